import { FarmError, isoTime, parseJson } from "@farmgate/shared";
import { z } from "zod";
import type { JsonObject, Translated, TranslationContext } from "../translation.ts";
import { objectOf } from "../json-fields.ts";
import { refuseTold } from "../told-error.ts";
import { NO_WORDS, type Wording } from "./line-writer.ts";

export const keepAlive = z.union([z.string(), z.number()]).nullish();

/**
 * A request without a prompt, which with Ollama loads the model: the smallest request that makes an engine do so. With a
 * `keep_alive` of 0 it unloads it, which is not for a caller of a farm to do: throws `not_supported`.
 */
export function loadRequest(
  given: { keep_alive?: z.output<typeof keepAlive>; stream?: boolean | null | undefined },
  wording: Wording,
  { model }: TranslationContext,
): Translated {
  if (isZero(given.keep_alive)) {
    throw new FarmError("not_supported", `"${model}" is not unloaded by a request: its worker decides when it goes.`);
  }
  const done = (wallMs: number) => ({
    model,
    created_at: isoTime(wallMs),
    ...wording(NO_WORDS),
    done: true,
    done_reason: "load",
  });
  const messages = [{ role: "user", content: "Hi" }];
  return {
    api: "chat",
    body: { model, messages, max_tokens: 1, stream: false },
    streams: given.stream ?? true,
    whole: (answer, at) => {
      refuseTold(objectOf(answer));
      return done(at.wallMs);
    },
    wholeAsStream: (answer, at) => {
      refuseTold(objectOf(answer));
      return `${JSON.stringify(done(at.wallMs))}\n`;
    },
    stream: () => ({
      push({ data }) {
        refuseTold(objectOf(parseJson(data)));
        return "";
      },
      end: (at) => `${JSON.stringify(done(at.wallMs))}\n`,
    }),
  };
}

function isZero(value: JsonObject[string]): boolean {
  return value === 0 || (typeof value === "string" && /^[+-]?0+(\.0*)?[a-z]*$/i.test(value.trim()));
}
