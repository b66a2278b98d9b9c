import { type Translated, TranslationError } from "./translation.ts";

/** The answers of an API that has whole ones alone. */
export function neverStreams(whole: Translated["whole"]): Omit<Translated, "api" | "body"> {
  const refuse = () => {
    throw new TranslationError("a stream in place of an answer");
  };
  return { streams: false, whole, wholeAsStream: refuse, stream: () => ({ push: refuse, end: () => null }) };
}
