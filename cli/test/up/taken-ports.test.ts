import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ProcessPlan } from "../../src/up/process-plan.ts";
import { takenPorts } from "../../src/up/taken-ports.ts";

let server: Server;
let port = 0;
beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

const plan = (more: Partial<ProcessPlan>): ProcessPlan => ({
  title: "gateway",
  role: "gateway",
  args: [],
  listen: { host: "127.0.0.1", port },
  portKey: "listen.port of the gateway",
  readyUrl: "",
  shows: null,
  drainMs: 0,
  ...more,
});

test("a taken port is told with every way out of it", async () => {
  const agent = plan({ title: "agent mac", role: "agent", portKey: "agents[0].listen.port" });
  expect(await takenPorts([plan({}), agent], "farm.yaml")).toEqual([
    `gateway: port ${port} on 127.0.0.1 is in use by another program; change listen.port of the gateway in farm.yaml, or give another --port`,
    `agent mac: port ${port} on 127.0.0.1 is in use by another program; change agents[0].listen.port in farm.yaml`,
  ]);
});

test("a farm that stands in no file of the user's is told the flag alone", async () => {
  expect(await takenPorts([plan({})], null)).toEqual([
    `gateway: port ${port} on 127.0.0.1 is in use by another program; change --port`,
  ]);
});

test("a free port is no trouble", async () => {
  expect(await takenPorts([plan({ listen: { host: "127.0.0.1", port: 0 } })], "farm.yaml")).toEqual([]);
});
