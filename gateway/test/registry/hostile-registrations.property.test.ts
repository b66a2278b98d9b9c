import { FarmError, registrationSchema } from "@farmgate/shared";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addressFault } from "../../src/registry/address-rules.ts";
import { readRegistered, readRegistration } from "../../src/registry/read-registered.ts";
import { workerPlace } from "../../src/registry/worker-place.ts";
import { readJson } from "../../src/routes/read-json.ts";
import { spoiled } from "../support/spoiled.ts";

const GOOD = {
  name: "box",
  url: "http://192.0.2.1:8401",
  port: 8401,
  tls: false,
  certificate: null,
  engine: "agent",
  weight: 2,
  maxConcurrent: 4,
  models: { allow: ["*"], deny: ["big"] },
  key: "run-key",
  version: "0.1.0",
  instance: "instance-1",
};

const ORIGIN = { address: "198.51.100.7", passedOn: false };

/** Addresses in many spellings, names aside: those are looked up. */
const odd = fc.oneof(
  fc.ipV4(),
  fc.ipV4Extended(),
  fc.ipV6().map((address) => `[${address}]`),
  fc.constantFrom(
    "[::1]",
    "[::ffff:127.0.0.1]",
    "127.1",
    "0",
    "[fe80::1]",
    "[64:ff9b::a9fe:a9fe]",
    "0251.0376.0251.0376",
  ),
);

function outcome(text: string): string {
  try {
    const { config: worker } = workerPlace(readJson(registrationSchema, text, "{}"), ORIGIN);
    expect(worker.name).not.toMatch(/^$|[\u0000-\u001f]/);
    expect(worker.url).toMatch(/^https?:\/\//);
    const host = new URL(worker.url).hostname.replace(/^\[|\]$/g, "");
    expect(addressFault(host, "elsewhere", [])).toBeNull();
    expect(worker.maxConcurrent).toBeGreaterThanOrEqual(0);
    expect(worker.weight === null || worker.weight > 0).toBe(true);
    return "taken";
  } catch (error) {
    if (!(error instanceof FarmError)) throw error;
    return error.code;
  }
}

test("a registration with odd values is refused with words, or a worker that can be asked", () => {
  expect(outcome(JSON.stringify(GOOD))).toBe("taken");
  const seen = new Set<string>();
  fc.assert(
    fc.property(spoiled(GOOD), (body) => {
      // What is looked up is not this test's.
      const { url } = body;
      if (typeof url === "string" && !url.startsWith("http://192.0.2.1")) body.url = GOOD.url;
      seen.add(outcome(JSON.stringify(body)));
    }),
    { numRuns: 200 },
  );
  expect([...seen].sort()).toEqual(["invalid_request", "taken"]);
});

test("text that is no registration is refused with words", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(outcome(text)).toBe("invalid_request");
    }),
  );
});

test("however an address is written, another machine leads to no loopback or link-local one", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(odd, (host) => {
      seen.add(outcome(JSON.stringify({ ...GOOD, url: `http://${host}:8401` })));
    }),
    { numRuns: 200 },
  );
  expect([...seen].sort()).toEqual(["invalid_request", "taken"]);
});

test("what another gateway tells of a worker comes out as it was put in, or not at all", () => {
  const { config } = workerPlace(readJson(registrationSchema, JSON.stringify(GOOD), "{}"), ORIGIN);
  const worker = { config, instance: "instance-1", leaseMs: 20_000 };
  const news = { kind: "registered", worker };
  expect(readRegistration(JSON.parse(JSON.stringify(news)))).toEqual(news);
  expect(readRegistered({ registered: [worker, null, { ...worker, leaseMs: -1 }] })).toEqual([worker]);
  const seen = new Set<boolean>();
  fc.assert(
    fc.property(spoiled(news), (value) => {
      const read = readRegistration(value);
      seen.add(read !== null);
      const url = read?.kind === "registered" ? read.worker.config.url : "http:";
      expect(url).toMatch(/^https?:/);
    }),
    { numRuns: 300 },
  );
  expect(seen.size).toBe(2);
});
