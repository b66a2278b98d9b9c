import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { SignsOfLife } from "../../src/serve/signs-of-life.ts";
import { until } from "../support/conditions.ts";
import { HandClock } from "../support/hand-clock.ts";

/** One request under way, its signs by a clock that is moved by hand, and the statuses that its caller got. */
async function asked(headers: Record<string, string> = { "x-farmgate-hop": "1" }) {
  const clock = new HandClock();
  const arrived: { response: ServerResponse | null } = { response: null };
  const server = createServer((_request, response) => {
    arrived.response = response;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const statuses: number[] = [];
  const caller = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", headers, agent: false });
  caller.on("information", ({ statusCode }) => statuses.push(statusCode));
  caller.on("response", (answer: IncomingMessage) => {
    statuses.push(answer.statusCode ?? 0);
    answer.resume();
  });
  caller.on("error", () => {});
  caller.end();
  await until(() => arrived.response !== null);
  const response = arrived.response as unknown as ServerResponse;
  return { clock, statuses, caller, response, signs: new SignsOfLife(response, clock) };
}

describe("a request of a gateway that waits in the queue", () => {
  it("is told so every second, and at its grant", async () => {
    const { clock, statuses, response, signs } = await asked();
    signs.waits();
    clock.move(999);
    await turn();
    expect(statuses).toEqual([]);
    clock.move(1);
    await until(() => statuses.length === 1);
    clock.move(1_000);
    await until(() => statuses.length === 2);
    signs.granted(2_400);
    await until(() => statuses.length === 3);
    clock.move(60_000);
    response.end();
    await until(() => statuses.length === 4);
    expect(statuses).toEqual([102, 102, 102, 200]);
    expect(clock.pending).toEqual([]);
  });

  it("is told nothing of a wait that was short", async () => {
    const { clock, statuses, response, signs } = await asked();
    signs.waits();
    clock.move(900);
    signs.granted(900);
    response.end();
    await until(() => statuses.length === 1);
    expect(statuses).toEqual([200]);
    expect(clock.pending).toEqual([]);
  });

  it("is told nothing behind an answer that was begun", async () => {
    const { clock, response, signs, statuses } = await asked();
    signs.waits();
    response.writeHead(503);
    response.write("x");
    clock.move(10_000);
    signs.granted(10_000);
    response.end();
    await until(() => statuses.length === 1);
    expect(statuses).toEqual([503]);
  });

  it("is told nothing once its caller has left", async () => {
    const { clock, caller, response, signs } = await asked();
    signs.waits();
    caller.destroy();
    await until(() => response.destroyed);
    clock.move(10_000);
    signs.granted(10_000);
    signs.stop();
    expect(clock.pending).toEqual([]);
  });
});

describe("a request of anyone else", () => {
  it("is told nothing", async () => {
    const { clock, statuses, response, signs } = await asked({});
    signs.waits();
    expect(clock.pending).toEqual([]);
    signs.granted(10_000);
    response.end();
    await until(() => statuses.length === 1);
    expect(statuses).toEqual([200]);
  });
});
