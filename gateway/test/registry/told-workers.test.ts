import { expect, it } from "vitest";
import type { WorkerConfig } from "../../src/catalog/types.ts";
import { loneRegistrar } from "./lone-registrar.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const worker = (name: string, url: string) => {
  const rest = { weight: null, models: { allow: ["*"], deny: [] }, maxConcurrent: 0, apiKey: null, ca: null };
  const config: WorkerConfig = { name, url, engine: "agent", ...rest, drainOnAbort: { bytes: 0, time: 0 } };
  return { config, instance: "run", leaseMs: 20_000 };
};

function registrar(ask: () => Promise<string | null>) {
  return loneRegistrar(steppedClock(), ask);
}

it("takes no worker from another gateway that is at an address where none can be", async () => {
  const taken = registrar(() => Promise.resolve(null));
  const hosts = [
    "169.254.169.254",
    "2852039166",
    "[::ffff:169.254.169.254]",
    "0.0.0.0",
    "[fe80::1]",
    "100.100.100.200",
  ];
  await Promise.all(hosts.map((host, i) => taken.told(worker(`w${i}`, `http://${host}`), "other")));
  expect(taken.configs()).toEqual([]);
  await taken.told(worker("box", "http://192.0.2.1:8401"), "other");
  await taken.told(worker("box", "http://169.254.169.254"), "other");
  expect(taken.configs().map(({ url }) => url)).toEqual(["http://192.0.2.1:8401"]);
});

it("looks at no more workers of others at once than it could take in", async () => {
  let looks = 0;
  let answer: (why: string | null) => void = () => {};
  const all = new Promise<string | null>((resolve) => (answer = resolve));
  const taken = registrar(() => {
    looks += 1;
    return all;
  });
  const told = Array.from({ length: 1_000 }, (_, i) =>
    taken.told(worker(`w${i}`, `http://127.0.0.1:${i + 1}`), "other"),
  );
  await Promise.resolve(answer("no agent answers there"));
  await Promise.all(told);
  expect(looks).toBe(200);
});
