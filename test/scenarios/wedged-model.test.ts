import { afterEach, expect, it } from "vitest";
import { type Answer, askChat } from "../harness/ask.ts";
import { explained, farmgateSays, logOf, metric } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { type FarmWorker, startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const workerOf = ({ headers }: Answer) => headers["x-farmgate-worker"];
const msOf = ({ sentAt, endedAt }: Answer) => endedAt - sentAt;
const seconds = (ms: number) => (ms / 1_000).toFixed(1);

/** The values at these shares of all, in whole milliseconds. */
function percentiles(answers: readonly Answer[], ...shares: number[]): string {
  const sorted = answers.map(msOf).toSorted((a, b) => a - b);
  return shares
    .map((share) => `p${share * 100} ${sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(0)}`)
    .join(" ");
}

it("a model that falls silent under load, on a worker that stays green, is put aside; its other model notices nothing", async () => {
  const models = ["m", "n"].map((name) => ({ name, loaded: true }));
  const wedged = await startTestEngine(cleanup, { models, slots: 64 });
  const spare = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }], slots: 64 });
  // All time-outs as they are by default: the first byte has a quarter of an hour.
  const { gateway, url, farm } = await startTestGateway(cleanup, { wedged: wedged.url, spare: spare.url });
  const worker = async () => (await farm())[0] as FarmWorker & { problem: string | null };
  const isAside = async () => (await worker()).state === "degraded";

  // Both models are asked some six times a second, all the time.
  interface Sent {
    at: number;
    answer: Answer | null;
    leave: () => void;
  }
  const asked: Record<"m" | "n", Sent[]> = { m: [], n: [] };
  const asking = new AbortController();
  const allAsked = (async () => {
    for (let seed = 0; !asking.signal.aborted; seed += 1) {
      for (const model of ["m", "n"] as const) {
        const { answer, leave } = askChat(url, model, { seed });
        const one: Sent = { at: performance.now(), answer: null, leave };
        asked[model].push(one);
        void answer.then((whole) => (one.answer = whole));
      }
      await pause(150);
    }
  })();
  const between = (of: "m" | "n", from: number, to: number) => asked[of].filter(({ at }) => at >= from && at < to);
  const answered = (all: readonly { answer: Answer | null }[]) => all.flatMap(({ answer }) => answer ?? []);

  const startedAt = performance.now();
  await pause(4_000);
  const wedgedAt = performance.now();
  await wedged.setFail(["hang@m"]);
  await until(isAside, "the pair is put aside", 40_000);
  const asideAt = performance.now();
  const { problem, catalog } = await worker();
  expect(problem).toMatch(/^breaker open for m: no first byte there for \d+ s, where \d+ s are enough, next trial in/);
  expect(catalog).toBe("fresh");
  expect(await metric(url, 'farmgate_breaker_open{worker="wedged",model="m"}')).toBe(1);
  expect(await metric(url, 'farmgate_breaker_open{worker="wedged",model="n"}')).toBe(0);
  expect(await farmgateSays(url, "status")).toContain("breaker open for m: no first byte there");
  expect((await explained(url, "m")).ranked).toMatchObject([
    { worker: "spare" },
    { worker: "wedged", reason: expect.stringContaining("no first byte there") as unknown },
  ]);

  await pause(5_000);
  const mendedAt = performance.now();
  await wedged.setFail([]);
  await until(async () => !(await isAside()), "its trial brings it back", 60_000);
  const backAt = performance.now();
  await pause(1_000);
  asking.abort();
  await allAsked;
  await pause(1_000);

  const hung = between("m", wedgedAt, asideAt).filter(({ answer }) => answer === null);
  for (const { leave } of hung) leave();
  const since = between("m", asideAt + 100, Number.POSITIVE_INFINITY);
  const [before, during] = [between("n", startedAt, wedgedAt), between("n", wedgedAt, backAt)];
  const others = between("n", startedAt, Number.POSITIVE_INFINITY);
  console.log(
    [
      `wedged model: put aside ${seconds(asideAt - wedgedAt)} s after it fell silent (firstByte is 15 min)`,
      `${between("m", wedgedAt, asideAt).length} requests for it until then, ${hung.length} of them hang there still`,
      `${since.length} since, ${since.length - answered(since).length} lost`,
      `back ${seconds(backAt - asideAt)} s after it was put aside, ${seconds(backAt - mendedAt)} s after it was mended`,
      `the other model there: ${others.length} requests, ${others.length - answered(others).length} lost,` +
        ` ms before ${percentiles(answered(before), 0.5, 0.99)}, meanwhile ${percentiles(answered(during), 0.5, 0.99)}`,
    ].join("\n"),
  );
  // The other model lost none, and was at that worker all the time.
  expect(others.map(({ answer }) => [answer?.status, answer && workerOf(answer)])).toEqual(
    others.map(() => [200, "wedged"]),
  );
  // Those sent since are all answered; until it was mended, elsewhere.
  expect(since.map(({ answer }) => answer?.status)).toEqual(since.map(() => 200));
  const elsewhere = answered(between("m", asideAt + 100, mendedAt));
  expect(new Set(elsewhere.map(workerOf))).toEqual(new Set(["spare"]));
  expect(answered(between("m", mendedAt, Number.POSITIVE_INFINITY)).map(workerOf)).toContain("wedged");
  expect(asideAt - wedgedAt).toBeLessThan(40_000);
  expect(await metric(url, 'farmgate_breaker_open{worker="wedged",model="m"}')).toBe(0);
  const told = logOf(gateway).filter(({ worker: name, msg }) => name === "wedged" && /\bm\b/.test(msg));
  expect(told.map(({ msg }) => msg)).toEqual([
    expect.stringMatching(/^wedged gets no m for now: no first byte there for \d+ s.*; next trial in 30 s$/),
    "wedged answers with m again",
  ]);
}, 120_000);
