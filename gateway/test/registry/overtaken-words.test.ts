import { createLog } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import type { WorkerConfig } from "../../src/catalog/types.ts";
import { PendingWords } from "../../src/registry/pending-words.ts";
import { Registrar } from "../../src/registry/registrar.ts";
import type { News } from "../../src/together/news.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { type Deferred, deferred } from "../support/until.ts";

const ELSEWHERE = { address: "198.51.100.7", passedOn: false };

/** A gateway's registrar; what is said of `box` leads to names whose looking up ends when `found` says so. */
function rig() {
  const lookUps: { host: string; answer: Deferred<string[]> }[] = [];
  let hear: (news: News, from: string) => void = () => {};
  const said: News[] = [];
  const registrar = new Registrar({
    clock: steppedClock(),
    log: createLog("gateway", "silent"),
    hub: { tell: (news) => said.push(news), onNews: (listener) => ((hear = listener), () => {}) },
    inFile: () => new Set(),
    isSibling: () => false,
    isFileHost: () => false,
    addressesOf: (host) => {
      const answer = deferred<string[]>();
      lookUps.push({ host, answer });
      return answer.promise;
    },
    ask: () => Promise.resolve(null),
  });
  registrar.start(() => {});
  const rest = { weight: null, models: { allow: ["*"], deny: [] }, maxConcurrent: 0 };
  const registers = (host: string, instance = "run") => {
    const more = { tls: false, certificate: null, port: 8401, key: "k", version: "1", engine: "agent" as const };
    const registration = { name: "box", ...rest, ...more, url: `http://${host}:8401`, instance };
    return registrar.register(registration, ELSEWHERE, "agents");
  };
  const told = (host: string, instance = "run", name = "box") => {
    const more = { engine: "agent" as const, apiKey: "k", ca: null, drainOnAbort: { bytes: 0, time: 0 } };
    const config: WorkerConfig = { name, ...rest, ...more, url: `http://${host}:8401` };
    return registrar.told({ config, instance, leaseMs: 20_000 }, "other");
  };
  return {
    registrar,
    registers,
    told,
    hasLeft: (instance = "run") => hear({ kind: "unregistered", worker: "box", instance }, "other"),
    /** The last time that it was looked up. */
    found: (host: string, address = "192.0.2.1") =>
      lookUps.findLast((lookUp) => lookUp.host === host)?.answer.resolve([address]),
    foundFirst: (host: string) => lookUps.find((lookUp) => lookUp.host === host)?.answer.resolve(["192.0.2.1"]),
    isAt: () => registrar.configs().map(({ url }) => new URL(url).hostname),
    said,
  };
}

describe("what another gateway tells of a worker while it is looked at", () => {
  it("counts no more once the worker has left", async () => {
    const { told, hasLeft, found, isAt } = rig();
    const first = told("one");
    hasLeft();
    found("one");
    await first;
    expect(isAt()).toEqual([]);
    // Told anew it is one again.
    const anew = told("one");
    found("one");
    await anew;
    expect(isAt()).toEqual(["one"]);
  });

  it("is not put in the place of a later address, in whatever order they are found", async () => {
    for (const order of [
      ["one", "two"],
      ["two", "one"],
    ]) {
      const { told, found, isAt } = rig();
      const looks = new Map(["one", "two"].map((host) => [host, told(host)]));
      for (const host of order) {
        found(host);
        await looks.get(host);
      }
      expect(isAt()).toEqual(["two"]);
    }
  });

  it("is not put in the place of a later run that registers here, nor does another run's leaving undo it", async () => {
    const { told, registers, hasLeft, found, isAt, registrar } = rig();
    const first = told("one", "earlier");
    hasLeft("another");
    const later = registers("two", "later");
    found("two");
    await later;
    found("one");
    await first;
    expect(isAt()).toEqual(["two"]);
    registrar.leave("box", "later");
    const again = told("one", "earlier");
    hasLeft("another");
    found("one");
    await again;
    expect(isAt()).toEqual(["one"]);
  });

  it("counts although the same is said of another worker", async () => {
    const { told, hasLeft, found, isAt } = rig();
    const first = told("one", "run", "mini");
    hasLeft();
    found("one");
    await first;
    expect(isAt()).toEqual(["one"]);
  });

  it("is the earlier one where the later leads nowhere", async () => {
    const { told, found, isAt } = rig();
    const [first, later] = [told("one"), told("nowhere")];
    found("nowhere", "169.254.169.254");
    await later;
    found("one");
    await first;
    expect(isAt()).toEqual(["one"]);
  });
});

it("is held for as long as it is looked at, and no longer", () => {
  const words = new PendingWords();
  const word = { name: "box", instance: "run", by: "worker" } as const;
  const [first, later] = [words.begin(word), words.begin(word)];
  words.end(first);
  words.settle(word);
  expect([first.isOvertaken, later.isOvertaken]).toEqual([false, true]);
});

describe("a registration while its address is looked at", () => {
  const AGAIN = { code: "rate_limited" };

  it("counts no more once the worker has left, here or elsewhere", async () => {
    for (const isHere of [true, false]) {
      const { registers, registrar, hasLeft, found, isAt, said } = rig();
      const first = registers("one");
      const leaves = isHere ? () => registrar.leave("box", "run") : () => (hasLeft(), null);
      // It was not in yet.
      const outcome = await Promise.resolve()
        .then(leaves)
        .catch((error: Error) => error.message);
      expect(outcome).toEqual(isHere ? 'No worker "box" of that instance is registered.' : null);
      found("one");
      await expect(first).rejects.toMatchObject(AGAIN);
      expect([isAt(), said]).toEqual([[], []]);
    }
  });

  it("is not put in the place of a later one, and the same said twice is no other", async () => {
    const { registers, found, foundFirst, isAt } = rig();
    const [first, later, twice] = [registers("one"), registers("two"), registers("two")];
    found("two");
    const taken = await twice;
    foundFirst("two");
    expect(await later).toEqual(taken);
    found("one");
    await expect(first).rejects.toMatchObject(AGAIN);
    expect(isAt()).toEqual(["two"]);
  });

  it("counts for more than where another gateway knows that run", async () => {
    const { registers, told, found, isAt } = rig();
    const [own, others] = [registers("one"), told("two")];
    found("two");
    await others;
    expect(isAt()).toEqual(["two"]);
    found("one");
    await own;
    expect(isAt()).toEqual(["one"]);
  });

  it("is not put in the place of a restarted agent of which another gateway tells", async () => {
    const { registers, told, found, foundFirst, isAt, registrar } = rig();
    const first = registers("one", "earlier");
    const restarted = told("one", "later");
    found("one");
    await restarted;
    foundFirst("one");
    await expect(first).rejects.toMatchObject(AGAIN);
    expect([isAt(), registrar.shared()[0]?.instance]).toEqual([["one"], "later"]);
  });
});
