import { apiForm } from "@farmgate/shared";
import { readEvents, readLines } from "./read-events.ts";
import type { AnswerTime, StreamTranslation, Translator } from "./translation.ts";

/** Two translations, one after the other: a question is put as the first has it, and that as the second has it. */
export function through(first: Translator, second: Translator): Translator {
  return (body, context) => {
    const near = first(body, context);
    const far = second(near.body, context);
    const streams = apiForm(near.api).streams;
    return {
      api: far.api,
      body: far.body,
      streams: near.streams,
      whole: (answer, at) => near.whole(far.whole(answer, at), at),
      wholeAsStream: (answer, at) => near.wholeAsStream(far.whole(answer, at), at),
      stream: () => joined(far.stream(), near.stream(), streams),
    };
  };
}

/** What the far one writes is read again, as the near one's worker would have sent it. */
function joined(
  far: StreamTranslation,
  near: StreamTranslation,
  streams: "events" | "lines" | null,
): StreamTranslation {
  let now: AnswerTime = { wallMs: 0, sinceSentMs: 0 };
  let out = "";
  const reader = (streams === "lines" ? readLines : readEvents)((event) => {
    out += near.push(event, now);
  });
  const pass = (text: string, at: AnswerTime) => {
    now = at;
    reader.push(Buffer.from(text));
  };
  const take = () => {
    const taken = out;
    out = "";
    return taken;
  };
  return {
    push(event, at) {
      pass(far.push(event, at), at);
      return take();
    },
    end(at) {
      const rest = far.end(at);
      if (rest === null) return null;
      pass(rest, at);
      reader.end();
      const last = near.end(at);
      return last === null ? null : take() + last;
    },
  };
}
