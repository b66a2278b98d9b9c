import { describe, expect, it } from "vitest";
import type { Farm } from "../../src/farm.ts";
import { leaveGone } from "../../src/proxy/leave-gone.ts";
import { completes, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { catalogOf, worker, type WorkerSketch } from "../routing/farm.ts";

describe("an agent that answers no polls any more", () => {
  it("is left by the requests of which no byte has come, and its pairs are not aside when it is back", async () => {
    const gone = await fakeWorker({ m: "warm" }, hangs);
    const good = await fakeWorker({ m: "cold" }, completes("from good"));
    const health = { interval: "50ms", timeout: "1s", unhealthyAfter: 1 };
    const gateway = await runGateway({ workers: agents({ gone, good }), health });
    const waiting = Array.from({ length: 5 }, () => chat(gateway));
    await until("all wait there", () => gone.asked.length === 5);
    gone.mute = true;
    for (const answer of await Promise.all(waiting)) {
      expect([answer.status, answer.headers.get("x-farmgate-worker")]).toEqual([200, "good"]);
    }
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('farmgate_retries_total{reason="first_byte_gone"} 5');
    gone.mute = false;
    gone.answer = completes("from gone");
    await until("it is asked again", async () => (await chat(gateway)).headers.get("x-farmgate-worker") === "gone");
    expect(await (await fetch(`${gateway.url}/metrics`)).text()).toContain(
      'farmgate_breaker_open{worker="gone",model="m"} 0',
    );
  });
});

describe("who is left", () => {
  /** Which of three requests at `a` are given up when it goes from one state to another. */
  function left(before: WorkerSketch, after: WorkerSketch): string[] {
    const given: string[] = [];
    const call = (id: string, more: object = {}) => ({
      worker: "a",
      phase: "asking",
      goneError: null,
      attempt: { giveUp: () => given.push(id) },
      ...more,
    });
    const calls = [call("waits"), call("answers", { phase: "answering" }), call("elsewhere", { worker: "b" })];
    const farm = { live: { all: () => calls } } as unknown as Farm;
    leaveGone(farm, catalogOf([worker("a", after), worker("b")]), catalogOf([worker("a", before), worker("b")]));
    return given;
  }

  const agent = { engine: "agent" } as const;
  it.each<[string, WorkerSketch, WorkerSketch, string[]]>([
    ["an agent that has become unhealthy", agent, { ...agent, health: "unhealthy" }, ["waits"]],
    ["no engine, which may read a long prompt", { engine: "vllm" }, { engine: "vllm", health: "unhealthy" }, []],
    ["none that is not known", {}, { health: "unhealthy" }, []],
    ["an agent once", { ...agent, health: "unhealthy" }, { ...agent, health: "unhealthy" }, []],
    ["none that is in order", agent, agent, []],
  ])("%s", (_, before, after, given) => {
    expect(left(before, after)).toEqual(given);
  });
});
