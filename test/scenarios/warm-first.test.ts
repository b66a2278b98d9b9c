import { afterEach, describe, expect, it } from "vitest";
import { type Answer, askChat } from "../harness/ask.ts";
import { Cleanup, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

function tally(answers: readonly Answer[]) {
  const workers: Record<string, number> = {};
  for (const { headers } of answers) {
    const worker = String(headers["x-farmgate-worker"]);
    workers[worker] = (workers[worker] ?? 0) + 1;
  }
  return workers;
}

async function askMany(url: string, count: number, atOnce: number, onAnswer: (answered: number) => void = () => {}) {
  const answers: Answer[] = [];
  let sent = 0;
  const caller = async () => {
    while (sent < count) {
      sent += 1;
      answers.push(await askChat(url, "m", { seed: sent }).answer);
      onAnswer(answers.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return answers;
}

describe("three workers that list a model, warm on one", () => {
  it("all of 100 requests go to the warm one, and still do while its catalogue answers 500", async () => {
    const warm = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }], slots: 8 });
    const cold = await startTestEngine(cleanup, {});
    const other = await startTestEngine(cleanup, {});
    const { url, farm } = await startTestGateway(cleanup, { cold: cold.url, warm: warm.url, other: other.url });

    const known = await askMany(url, 100, 8);
    console.log("100 requests, warm on one of three:", tally(known));
    expect(known.every(({ status }) => status === 200)).toBe(true);
    expect(tally(known)).toEqual({ warm: 100 });
    expect(new Set(known.map(({ headers }) => headers["x-farmgate-warmth"]))).toEqual(new Set(["warm"]));

    await warm.setFail(["catalog-500"]);
    await until(
      async () => (await farm()).find(({ name }) => name === "warm")?.catalog === "unreachable",
      "unreachable",
    );
    const unknown = await askMany(url, 100, 8);
    console.log("100 requests, its catalogue answering 500:", tally(unknown));
    expect(unknown.every(({ status }) => status === 200)).toBe(true);
    expect(tally(unknown)).toEqual({ warm: 100 });
    expect(cold.stats.loads + other.stats.loads).toBe(0);
  });

  it("loses nothing when that worker is killed mid-run, and tells the streams that it cut", async () => {
    const [port = 0] = await freePorts(1);
    const flags = [
      "--models",
      "m",
      "--loaded",
      "m",
      "--slots",
      "8",
      "--tokens-per-second",
      "200",
      "--prompt-speed",
      "0",
    ];
    const warm = runFarmgate(["engine", "--port", String(port), ...flags]);
    cleanup.add(warm, ({ child }) => child.kill("SIGKILL"));
    const address = `http://127.0.0.1:${port}`;
    await until(
      () =>
        fetch(address).then(
          () => true,
          () => false,
        ),
      "the engine answers",
    );
    const cold = await startTestEngine(cleanup, { slots: 8 });
    const other = await startTestEngine(cleanup, { slots: 8 });
    const { url } = await startTestGateway(cleanup, { cold: cold.url, warm: address, other: other.url });

    const answers = await askMany(url, 100, 8, (answered) => {
      if (answered === 40) warm.child.kill("SIGKILL");
    });
    const cut = answers.filter(({ body }) => body.includes('"error"'));
    const whole = answers.filter(({ status, body }) => status === 200 && body.endsWith("data: [DONE]\n\n"));
    console.log(`100 requests, killed after 40: ${whole.length} whole, ${cut.length} cut and told,`, tally(answers));
    expect(whole.length + cut.length).toBe(100);
    expect(cut.length).toBeLessThanOrEqual(8);
    for (const { status, complete } of cut) expect([status, complete]).toEqual([200, true]);
    expect(cold.stats.loads + other.stats.loads).toBe(1);
  });
});

describe("a model that is cold on two workers", () => {
  it("is loaded once for a burst of 15", async () => {
    const one = await startTestEngine(cleanup, { load: "500ms" });
    const two = await startTestEngine(cleanup, { load: "500ms" });
    const { url } = await startTestGateway(cleanup, { one: one.url, two: two.url });
    const answers = await askMany(url, 15, 15);
    console.log(`burst of 15, cold on two: ${one.stats.loads + two.stats.loads} loads,`, tally(answers));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(one.stats.loads + two.stats.loads).toBe(1);
  });
});
