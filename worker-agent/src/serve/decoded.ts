import { FarmError } from "@farmgate/shared";

/** A piece of a path, as it was meant. Throws `invalid_request`. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new FarmError("invalid_request", "The path is not well encoded.");
  }
}
