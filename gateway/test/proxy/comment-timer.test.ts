import type { Clock } from "@farmgate/shared";
import { beforeEach, describe, expect, it } from "vitest";
import type { Farm } from "../../src/farm.ts";
import type { Call } from "../../src/proxy/call.ts";
import { LiveRequests } from "../../src/proxy/live-requests.ts";
import { WaitComments } from "../../src/proxy/wait-comments.ts";

/** Moved by hand; it holds the timers that are pending. */
let now = 0;
let timers: { at: number; fn: () => void }[] = [];
const clock: Clock = {
  now: () => now,
  wall: () => 0,
  after(ms, fn) {
    const timer = { at: now + ms, fn };
    timers.push(timer);
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  },
};

function move(ms: number): void {
  for (const end = now + ms; ; ) {
    const next = timers.toSorted((a, b) => a.at - b.at).find(({ at }) => at <= end);
    now = next?.at ?? end;
    if (next === undefined) return;
    timers = timers.filter((timer) => timer !== next);
    next.fn();
  }
}

function farmOf(sseComments = 10_000): Farm & { live: LiveRequests<Call> } {
  const live = new LiveRequests<Call>();
  const farm = { clock, live, config: { sseComments, loadingStatus: false } } as unknown as Farm;
  return Object.assign(farm, { comments: new WaitComments(() => farm) });
}

/** A waiting call whose response writes into `sent`. */
function enter(farm: Farm, id: string, more: object = {}) {
  const sent: string[] = [];
  const response = {
    socket: {},
    headersSent: false,
    writableNeedDrain: false,
    writeHead(status: number) {
      sent.push(String(status));
      response.headersSent = true;
    },
    write: (text: string) => sent.push(text),
  };
  const tap = { heldBytes: 0 };
  const times = { arrivedAt: now, commentedAt: null, firstByteAt: null };
  const call = {
    id,
    response,
    tap,
    ...times,
    goneError: null,
    takesComments: true,
    ownHeaders: [],
    opened: false,
    ...more,
  };
  farm.live.enter(call as unknown as Call);
  farm.comments.watch();
  return { call: call as unknown as Call, sent, response };
}

beforeEach(() => {
  now = 0;
  timers = [];
});

describe("the timer of the comments", () => {
  it("is one for all requests, and there is none without requests", () => {
    const farm = farmOf();
    const calls = Array.from({ length: 100 }, (_, i) => enter(farm, `r${i}`).call);
    expect(timers).toHaveLength(1);
    move(5_000);
    expect(timers).toHaveLength(1);
    for (const call of calls) farm.live.leave(call);
    move(5_000);
    expect(timers).toHaveLength(0);
    enter(farm, "later");
    expect(timers).toHaveLength(1);
  });

  it("is none where comments are turned off", () => {
    enter(farmOf(0), "r1");
    expect(timers).toHaveLength(0);
  });
});

describe("a waiting request", () => {
  it("is sent a comment every ten seconds", () => {
    const { sent, call } = enter(farmOf(), "r1");
    move(9_999);
    expect(sent).toEqual([]);
    move(1);
    expect(sent).toEqual(["200", ": waiting\n\n"]);
    expect(call.opened).toBe(true);
    move(20_000);
    expect(sent).toEqual(["200", ": waiting\n\n", ": waiting\n\n", ": waiting\n\n"]);
  });

  it("is sent nothing while it does not read what it was sent before", () => {
    const { sent, response } = enter(farmOf(), "r1");
    move(10_000);
    response.writableNeedDrain = true;
    move(60_000);
    expect(sent).toHaveLength(2);
    response.writableNeedDrain = false;
    move(1_000);
    expect(sent).toHaveLength(3);
  });

  const cases: [string, object][] = [
    ["it wants no stream", { takesComments: false }],
    ["bytes of its answer were passed on", { tap: { heldBytes: 1 } }],
    ["nobody wants it any more", { goneError: {} }],
    ["an earlier answer on its connection is still under way", { response: { socket: null } }],
  ];
  it.each(cases)("is sent nothing when %s", (_when, more) => {
    const { sent } = enter(farmOf(), "r1", more);
    move(60_000);
    expect(sent).toEqual([]);
  });
});
