import cluster, { type Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { createLog } from "@farmgate/wire";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { steppedClock } from "../../../gateway/test/support/stepped-clock.ts";
import { Doors } from "../../src/processes/doors.ts";
import { GatewayProcess } from "../../src/processes/gateway-process.ts";
import type { FromProcess, ToProcess } from "../../src/processes/messages.ts";
import { fakeIo } from "../fake-io.ts";

/** A process as the primary sees it, and what it was told. */
function forked() {
  const heard: string[] = [];
  const process = Object.assign(new EventEmitter(), {
    send: () => true,
    kill: (signal: string) => void heard.push(signal),
  });
  const worker = Object.assign(new EventEmitter(), {
    process,
    isConnected: () => true,
    send: ({ kind }: ToProcess) => void heard.push(kind),
  });
  const says = (message: FromProcess) => worker.emit("message", message);
  return {
    worker,
    heard,
    serves() {
      says({ kind: "up" });
      says({ kind: "listening", url: "http://x" });
    },
    leaves: (isBroken = false) => says({ kind: "leaves", isBroken }),
    exits: (code = 0) => worker.emit("exit", code, null),
  };
}

const forks: ReturnType<typeof forked>[] = [];
/** The one that was started as the `i`th. */
const nth = (i: number) => {
  const fork = forks.at(i - 1);
  if (fork === undefined) throw new Error(`only ${forks.length} were started`);
  return fork;
};

beforeEach(() => {
  vi.spyOn(cluster, "fork").mockImplementation(() => {
    forks.push(forked());
    return nth(forks.length).worker as unknown as Worker;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  forks.length = 0;
});

function started() {
  const clock = steppedClock();
  const events: string[] = [];
  const process = new GatewayProcess(1, { ...fakeIo([]), clock }, createLog("gateway", "silent"), new Doors(), {
    up: () => {},
    listening: () => {},
    failed: () => {},
    givenUp: () => events.push("given up"),
  });
  process.start();
  nth(1).serves();
  return { process, clock, events };
}

it("has another in the place of one that leaves at once, and is told of changes as long as it lives", () => {
  const { process, clock } = started();
  nth(1).leaves();
  expect([forks.length, ...nth(1).heard]).toEqual([2, "left"]);
  nth(1).leaves();
  nth(2).serves();
  process.tell({ kind: "renew", pair: { cert: "", key: "" } });
  expect([nth(1).heard, nth(2).heard]).toEqual([["left", "left", "renew"], ["renew"]]);
  nth(1).exits(1);
  clock.move(60_000);
  process.tell({ kind: "renew", pair: { cert: "", key: "" } });
  expect([forks.length, nth(1).heard.length, nth(2).heard.length]).toEqual([2, 3, 2]);
});

it("counts the crashes in a row, of which none is one that left", () => {
  const { clock, events } = started();
  const crash = () => {
    nth(forks.length).exits(1);
    clock.move(30_000);
  };
  for (let i = 0; i < 5; i += 1) crash();
  for (let i = 0; i < 10; i += 1) {
    const leaving = nth(forks.length);
    leaving.leaves();
    leaving.exits(1);
  }
  expect([forks.length, ...events]).toEqual([16]);
  for (let i = 0; i < 6; i += 1) crash();
  expect([forks.length, ...events]).toEqual([21, "given up"]);
});

it("takes one that ends for an error of its own for a crash, once, and before it has ended", () => {
  const { clock, events } = started();
  for (let i = 0; i < 5; i += 1) {
    const leaving = nth(forks.length);
    leaving.leaves(true);
    expect(forks).toHaveLength(i + 1);
    clock.move(30_000);
    leaving.exits(1);
    expect(forks).toHaveLength(i + 2);
  }
  nth(6).leaves(true);
  expect([forks.length, ...events]).toEqual([6, "given up"]);
});

it("ends with all that live, those that leave as well, and starts none any more", async () => {
  const { process } = started();
  nth(1).leaves();
  const order: string[] = [];
  const ended = process.end().then(() => order.push("ended"));
  // One that has only begun would not hear of it.
  expect([nth(1).heard, nth(2).heard]).toEqual([["left", "close"], ["SIGKILL"]]);
  nth(2).exits();
  await Promise.resolve();
  order.push("the last ends");
  nth(1).exits();
  await ended;
  expect(order).toEqual(["the last ends", "ended"]);
  expect(forks).toHaveLength(2);
});

it("starts none for one that leaves as all end", () => {
  const { process, clock } = started();
  void process.end();
  nth(1).leaves();
  process.kill();
  nth(1).exits();
  clock.move(60_000);
  expect([forks.length, ...nth(1).heard]).toEqual([1, "close", "left", "SIGKILL"]);
});
