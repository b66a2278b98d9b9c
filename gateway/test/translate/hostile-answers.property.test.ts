import { type Api, apiForm } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TranslatedAnswer } from "../../src/translate/translated-answer.ts";
import type { Translated } from "../../src/translate/translation.ts";
import { spoiled } from "../support/spoiled.ts";
import { AT, tell } from "../support/translate.ts";
import { faultsIn } from "./legal-streams.ts";
import { STREAMS, WHOLES } from "./samples.ts";
import { EVERY_WAY } from "./every-way.ts";

const STREAMED = EVERY_WAY.filter(({ translated }) => translated.streams && STREAMS[translated.api] !== undefined);

/** As the worker's API streams, with `[DONE]` behind it or not. */
function streamOf(api: Api, events: readonly unknown[], done: boolean): string {
  const texts = events.map((event) => JSON.stringify(event ?? null));
  if (apiForm(api).streams === "lines") return texts.map((text) => `${text}\n`).join("");
  return [...texts, ...(done ? ["[DONE]"] : [])].map((text) => `data: ${text}\n\n`).join("");
}

/** A whole answer as the gateway takes it. */
function tellWhole(from: Api, translated: Translated, answer: unknown) {
  const whole = new TranslatedAnswer(translated, apiForm(from).streams, ["content-type", "application/json"]);
  return { text: whole.whole(Buffer.from(JSON.stringify(answer ?? null)), AT), problem: whole.problem };
}

describe.each(STREAMED)("a worker's stream, $from by $name", ({ from, translated }) => {
  const good = STREAMS[translated.api] ?? [];

  it("is told to its end where it is good", () => {
    const { text, problem } = tell(from, translated, streamOf(translated.api, good, true));
    expect([faultsIn(from, text), problem]).toEqual([[], null]);
  });

  it("comes to legal events or a problem, whatever stands where something else was expected", () => {
    fc.assert(
      fc.property(spoiled(good), fc.boolean(), (events, done) => {
        const sent = Array.isArray(events) ? events : [events];
        const { text } = tell(from, translated, streamOf(translated.api, sent, done));
        expect(faultsIn(from, text)).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });
});

describe.each(EVERY_WAY)("a worker's whole answer, $from by $name", ({ from, translated }) => {
  const good = WHOLES[translated.api];
  const faultsOf = (text: string | null) => (translated.streams ? faultsIn(from, text ?? "") : []);

  it("is told where it is good", () => {
    const { text, problem } = tellWhole(from, translated, good);
    expect(problem).toBeNull();
    expect(faultsOf(text)).toEqual([]);
  });

  it("comes to a legal one or a problem, whatever stands where something else was expected", () => {
    fc.assert(
      fc.property(spoiled(good), (answer) => {
        const { text, problem } = tellWhole(from, translated, answer);
        expect(text === null).toBe(problem !== null);
        expect(faultsOf(text)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("is a problem, and no more, where it nests without end", () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const call = `{"index":0,"id":"c","function":{"name":"look","arguments":{"a":${deep}}}}`;
    const text = `{"message":{"tool_calls":[${call}]},"choices":[{"message":{"tool_calls":[${call}]}}],"error":${deep},"done":true}`;
    for (const body of [text, text.replace('"error"', '"other"')]) {
      const whole = new TranslatedAnswer(translated, apiForm(from).streams, ["content-type", "application/json"]);
      expect(() => whole.whole(Buffer.from(body), AT)).not.toThrow();
    }
  });
});
