import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLog, createUpstream, pollGet } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import type { WorkerConfig } from "../../src/catalog/types.ts";
import { type AddressesOf, checkedLookup, type HostFault } from "../../src/registry/lookups.ts";
import { Registrar } from "../../src/registry/registrar.ts";
import { cleanup } from "../support/cleanup.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { deferred } from "../support/until.ts";

const place = { tls: false, certificate: null, engine: "agent" as const, weight: null, maxConcurrent: 0, version: "1" };
const told = (name: string, url: string | null) => ({
  ...place,
  name,
  url,
  port: 8401,
  models: { allow: ["*"], deny: [] },
  key: "run-key",
  instance: "instance-1",
});

interface Rig {
  addressesOf?: AddressesOf;
  ask?: (config: WorkerConfig, fault: HostFault) => Promise<string | null>;
  fileHost?: string;
}

function rig({ addressesOf, ask, fileHost = "" }: Rig) {
  const clock = steppedClock();
  const registrar = new Registrar({
    clock,
    log: createLog("gateway", "silent"),
    hub: { tell: () => {}, onNews: () => () => {} },
    isSibling: (member) => member === "sibling",
    inFile: () => new Set(),
    isFileHost: (host) => host === fileHost,
    addressesOf: addressesOf ?? (() => Promise.resolve(["192.0.2.1"])),
    ask: ask ?? (() => Promise.resolve(null)),
  });
  return { clock, registrar };
}

const ELSEWHERE = { address: "198.51.100.7", passedOn: false };
const HERE = { address: "127.0.0.1", passedOn: false };

const addressesNow = (registrar: Registrar, host: string) =>
  new Promise<string>((resolve) => {
    registrar.lookup(host, { all: true }, (error, found) =>
      resolve(error === null ? JSON.stringify(found) : (error.code ?? "")),
    );
  });

describe("names of workers that register", () => {
  it("are looked up for so many at once as are looked at, and not again for a renewal", async () => {
    const go = deferred();
    const names: string[] = [];
    const { registrar } = rig({
      addressesOf: (host) => (names.push(host), go.promise.then(() => ["192.0.2.1"])),
    });
    const all = Array.from({ length: 100 }, (_, i) =>
      registrar.register(told(`w${i}`, `http://w${i}.example:8401`), ELSEWHERE, "agents"),
    );
    const ended = Promise.allSettled(all);
    await new Promise((resolve) => setImmediate(resolve));
    expect(names).toHaveLength(16);
    go.resolve();
    const outcomes = await ended;
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused.map(({ reason }) => (reason as { code: string }).code)).toEqual(
      Array.from({ length: 84 }, () => "rate_limited"),
    );
    await registrar.register(told("w0", "http://w0.example:8401"), ELSEWHERE, "agents");
    expect(names).toHaveLength(16);
  });

  it("are asked at those of their addresses where a worker can be, and refused where there is none", async () => {
    let leads = ["fe80::1%eth0", "127.0.0.1", "192.0.2.1", "2001:db8::1"];
    const asked: (string | null)[] = [];
    const { registrar } = rig({
      addressesOf: () => Promise.resolve(leads),
      ask: (_, fault) => (asked.push(...leads.map((address) => fault("box.example", address))), Promise.resolve(null)),
    });
    const registers = (name: string) => registrar.register(told(name, "http://box.example:8401"), ELSEWHERE, "agents");
    await registers("box");
    expect(asked).toEqual([expect.any(String), expect.any(String), null, null]);
    const found = [
      { address: "192.0.2.1", family: 4 },
      { address: "2001:db8::1", family: 6 },
    ];
    expect(JSON.parse(await addressesNow(registrar, "box.example"))).toEqual(found);
    const one = (family: number) =>
      new Promise((resolve) => {
        registrar.lookup("box.example", { family }, (error, address) => resolve(error?.code ?? address));
      });
    expect(await Promise.all([0, 4, 6].map(one))).toEqual(["192.0.2.1", "192.0.2.1", "2001:db8::1"]);
    leads = ["127.0.0.1", "2001:db8::1"];
    expect(await Promise.all([0, 4, 6].map(one))).toEqual(["2001:db8::1", "ENOTFOUND", "2001:db8::1"]);
    leads = ["fe80::1%eth0", "127.0.0.1"];
    expect(await addressesNow(registrar, "box.example")).toBe("EADDRNOTAVAIL");
    await expect(registers("other")).rejects.toMatchObject({
      message: "http://box.example:8401 is not asked: no worker can be at such an address.",
    });
    expect(asked).toHaveLength(4);
  });

  it("get no connection where they lead elsewhere than when they were looked at", async () => {
    let leads = ["192.0.2.1"];
    const { registrar } = rig({ addressesOf: () => Promise.resolve(leads), fileHost: "mine.example" });
    await registrar.register(told("box", "http://box.example:8401"), ELSEWHERE, "agents");
    await registrar.register(told("near", "http://near.example:8401"), HERE, "agents");
    const connects = async () => {
      const hosts = ["box.example", "near.example", "mine.example"];
      return Promise.all(hosts.map(async (host) => (await addressesNow(registrar, host)) !== "EADDRNOTAVAIL"));
    };
    expect(await connects()).toEqual([true, true, true]);
    leads = ["127.0.0.1"];
    expect(await connects()).toEqual([false, true, true]);
    leads = ["169.254.169.254"];
    expect(await connects()).toEqual([false, false, true]);
  });

  it("are asked where they were found to be, also when a second look would find another place", async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanup(() => server.close());
    const { port } = server.address() as AddressInfo;
    const get = async (fault: HostFault) => {
      const url = `http://box.example:${port}`;
      const lookup = checkedLookup(fault, () => Promise.resolve(["127.0.0.1"]));
      const upstream = createUpstream(url, { connectMs: 5_000, lookup });
      cleanup(() => upstream.destroy());
      const stop = new AbortController().signal;
      return pollGet(upstream, steppedClock(), { url, apiKey: "run-key" }, "/catalog", 5_000, stop);
    };
    expect(await get(() => null)).toMatchObject({ kind: "answer", status: 200 });
    const reason = "EADDRNOTAVAIL";
    expect(await get(() => "not there")).toMatchObject({ kind: "silent", refused: false, reason });
    expect(asked).toBe(1);
  });
});

describe("a registration by a connection that has ended", () => {
  it("is refused with words, with an address of its own or without", async () => {
    const { registrar } = rig({ ask: () => Promise.resolve("nothing listens there") });
    const gone = { address: "", passedOn: false };
    for (const url of [null, "http://192.0.2.1:8401"]) {
      const registered = registrar.register(told("box", url), gone, "agents");
      await expect(registered).rejects.toMatchObject({ code: "invalid_request" });
    }
  });
});

describe("a worker at a loopback address of which another gateway tells", () => {
  const news = (name: string, url: string) => {
    const { port: _, tls: __, certificate: ___, version: ____, key, instance, ...rest } = told(name, url);
    const config: WorkerConfig = { ...rest, url, ca: null, apiKey: key, drainOnAbort: { bytes: 0, time: 0 } };
    return { config, instance, leaseMs: 30_000 };
  };

  it("is asked for once, by no key, however often it renews", async () => {
    const asked: string[] = [];
    const { clock, registrar } = rig({
      addressesOf: (host) => Promise.resolve(["fe80::1%eth0", host === "192.0.2.1" ? host : "127.0.1.1"]),
      ask: ({ url, apiKey }) => (asked.push(`${url} ${apiKey}`), Promise.resolve("it answers 401")),
    });
    for (let i = 0; i < 10; i += 1) {
      await registrar.told(news("box", "http://127.0.0.1:8401"), "other");
      // A name may lead here too, and to where no worker can be.
      await registrar.told(news("mini", "http://mini.example:8401"), "other");
      await registrar.told(news("other", "http://192.0.2.1:8401"), "other");
      clock.move(10_000);
    }
    expect(asked).toEqual(["http://127.0.0.1:8401 null", "http://mini.example:8401 null"]);
    expect(registrar.configs().map(({ name }) => name)).toEqual(["other"]);
  });

  it("is taken in with its key where an agent of its name answers", async () => {
    const { registrar } = rig({ addressesOf: () => Promise.resolve(["127.0.0.1"]) });
    await registrar.told(news("box", "http://box.example:8401"), "other");
    expect(registrar.configs()).toMatchObject([{ name: "box", apiKey: "run-key" }]);
    expect(await addressesNow(registrar, "box.example")).toContain("127.0.0.1");
  });

  it("is the same machine's where another process of this host tells, and not asked for", async () => {
    let asked = 0;
    const ask = () => ((asked += 1), Promise.resolve("it answers 401"));
    const { registrar } = rig({ addressesOf: () => Promise.resolve(["127.0.0.1"]), ask });
    await registrar.told(news("box", "http://127.0.0.1:8401"), "sibling");
    expect([registrar.configs().length, asked]).toEqual([1, 0]);
  });
});
