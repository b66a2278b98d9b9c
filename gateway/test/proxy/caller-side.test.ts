import { expect, it } from "vitest";
import { createLog } from "@farmgate/wire";
import type { Farm } from "../../src/farm.ts";
import type { Call, Received } from "../../src/proxy/call.ts";
import { CallerSide } from "../../src/proxy/caller-side.ts";
import type { Choice } from "../../src/routing/types.ts";
import type { Translated } from "../../src/translate/translation.ts";

const breaks = (): never => {
  throw new TypeError("a translator's own fault");
};

/** The caller's side of a try whose answer is translated by what fails at every step. */
function side(streams: boolean): CallerSide {
  const farm = { log: createLog("gateway", "silent"), clock: { now: () => 0, wall: () => 0 } };
  const call = { id: "1", api: "messages", askedAt: 0, isGathered: false };
  const translated: Translated = {
    api: "chat",
    body: {},
    streams,
    whole: breaks,
    wholeAsStream: breaks,
    stream: () => ({ push: breaks, end: breaks }),
  };
  const choice = { worker: { config: { name: "a" } } } as Choice;
  return new CallerSide(farm as Farm, call as Call, {} as Received, choice, translated, null as never);
}

it("takes a translation that fails by its own fault for a failed answer, so that the request ends", () => {
  const whole = side(false);
  expect(whole.gathers(200, ["content-type", "application/json"])).toBe(true);
  expect(whole.readWhole(Buffer.from("{}"))).toEqual({
    reason: "an answer that could not be translated",
    untold: false,
  });

  const stream = side(true);
  expect(stream.gathers(200, ["content-type", "text/event-stream"])).toBe(false);
  expect([stream.write(Buffer.from("data: {}\n\n")), stream.isSpoiled]).toEqual([true, true]);
});
