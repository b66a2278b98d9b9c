import { describe, expect, it } from "vitest";
import { fifo } from "../../src/queue/fifo.ts";
import { Drive } from "./drive.ts";
import { atOnce, rulesFor } from "./workload.ts";
import type { Arrival, Workload } from "./workload.ts";

const SIX = ["chat", "code", "chat", "chat", "code", "code"];

/** An earlier answer keeps the loaded model busy while the requests of the table arrive. */
function behindOne(model: string, arrivals: Arrival[]): Arrival[] {
  return [{ at: 0, id: "earlier", model, answerMs: 50 }, ...arrivals];
}

function play(over: Partial<Workload> & Pick<Workload, "arrivals">) {
  const rules = rulesFor({ chat: 1, code: 1, fast: 1 });
  const drive = new Drive({ rules, loadMs: 5_000, ...over }).run();
  return { order: drive.granted.filter((id) => id !== "earlier").join(" "), swaps: drive.swaps };
}

describe("the six requests: chat, code, chat, chat, code, code", () => {
  it("cost one swap when chat is loaded", () => {
    expect(play({ found: "chat", arrivals: atOnce(0, SIX) })).toEqual({ order: "1 3 4 2 5 6", swaps: ["code"] });
  });

  it("cost one swap when code is loaded and busy", () => {
    const arrivals = behindOne("code", atOnce(10, SIX));
    expect(play({ found: "code", arrivals })).toEqual({ order: "2 5 6 1 3 4", swaps: ["chat"] });
  });

  it("cost one swap when code is loaded and idle, as long as they come as one burst", () => {
    const arrivals = atOnce(0, SIX).map((arrival, index) => ({ ...arrival, at: index }));
    const rules = rulesFor({ chat: 1, code: 1 }, { gather: 20 });
    expect(play({ rules, found: "code", arrivals })).toEqual({ order: "2 5 6 1 3 4", swaps: ["chat"] });
  });

  it("cost two swaps when nothing is loaded", () => {
    expect(play({ arrivals: atOnce(0, SIX) })).toEqual({ order: "1 3 4 2 5 6", swaps: ["chat", "code"] });
  });

  it("cost three swaps in plain arrival order", () => {
    const result = play({ found: "chat", policy: fifo, arrivals: atOnce(0, SIX) });
    expect(result).toEqual({ order: "1 2 3 4 5 6", swaps: ["code", "chat", "code"] });
  });

  it("cost the same with four slots", () => {
    const rules = rulesFor({ chat: 4, code: 4 });
    expect(play({ rules, found: "chat", arrivals: atOnce(0, SIX) }).swaps).toEqual(["code"]);
  });
});

describe("three models", () => {
  it("are served by what is loaded first, then by who came first", () => {
    const arrivals = behindOne("fast", atOnce(10, ["chat", "fast", "code", "fast", "chat", "fast"]));
    expect(play({ found: "fast", arrivals })).toEqual({ order: "2 4 6 1 5 3", swaps: ["chat", "code"] });
  });
});

describe("a burst", () => {
  it("of fifteen for one model and three for another costs one swap", () => {
    const models = Array.from({ length: 18 }, (_, index) => (index % 6 === 2 ? "code" : "chat"));
    const { swaps } = play({ rules: rulesFor({ chat: 4, code: 2 }), found: "chat", arrivals: atOnce(0, models) });
    expect(swaps).toEqual(["code"]);
  });

  it("of twenty first requests costs one swap", () => {
    const { swaps } = play({
      arrivals: atOnce(
        0,
        Array.from({ length: 20 }, () => "chat"),
      ),
    });
    expect(swaps).toEqual(["chat"]);
  });
});
