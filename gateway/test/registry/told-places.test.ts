import { expect, it } from "vitest";
import type { WorkerConfig } from "../../src/catalog/types.ts";
import { loneRegistrar } from "./lone-registrar.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const instance = "one-run-of-it";
const models = { allow: ["*"], deny: [] };
const place = { name: "box", tls: false, certificate: null, engine: "agent" as const, weight: null, maxConcurrent: 0 };

it("asks for an agent at its own machine before it sends anything there, also of one that it knows elsewhere", async () => {
  const clock = steppedClock();
  const asked: string[] = [];
  const ask = async ({ url }: WorkerConfig) => {
    asked.push(url);
    return url.includes("127.0.0.1") ? "nothing listens there" : null;
  };
  const registrar = loneRegistrar(clock, ask);
  const registration = { ...place, url: null, port: 8401, models, key: "k", version: "0.1.0", instance };
  await registrar.register(registration, { address: "192.0.2.1", passedOn: false }, "agents");
  const config: WorkerConfig = {
    name: "box",
    url: "http://127.0.0.1:8401",
    ca: null,
    engine: "agent",
    weight: null,
    models,
    maxConcurrent: 0,
    apiKey: "k",
    drainOnAbort: { bytes: 0, time: 0 },
  };
  const told = () => registrar.told({ config, instance, leaseMs: 30_000 }, "other");
  const urls = () => registrar.configs().map(({ url }) => url);
  clock.move(20_000);
  await told();
  // It does not come here any more, and still to the other gateway, on whose machine it is.
  clock.move(15_000);
  await told();
  expect(urls()).toEqual(["http://192.0.2.1:8401"]);
  expect(asked).toEqual(["http://192.0.2.1:8401", "http://127.0.0.1:8401"]);
});
