import { readErrorReason } from "@farmgate/engines";
import { type JsonObject, TranslationError } from "./translation.ts";

/** Engines tell an error that befell them in the middle of an answer in its place. Throws it. */
export function refuseTold(answer: JsonObject): void {
  if (answer["error"] !== undefined && answer["error"] !== null) throw toldError(JSON.stringify(answer));
}

/** `body`: the event or the answer that tells the error. */
export function toldError(body: string): TranslationError {
  return new TranslationError(`it told an error: ${readErrorReason(body) || "without words"}`);
}
