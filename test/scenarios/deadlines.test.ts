import { readFile, writeFile } from "node:fs/promises";
import { afterEach, expect, it } from "vitest";
import { type Answer, ask } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { explained, farmgateSays } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A slot reads so many tokens of a prompt in a second, and writes its answer at once. */
const MACHINE = { name: "m", slots: 1, promptSpeed: 6_000 };
/** A word is a token and a bit: a third of a second for a long one, a fiftieth for a short one. */
const [LONG, SHORT] = [1_500, 100];
const DEADLINE_MS = 1_400;

let number = 0;

function send(url: string, words: number, ms: number | null) {
  // No two begin alike: what an engine has read once it need not read again.
  const content = `${(number += 1)}: ${Array.from({ length: words }, (_, i) => `word${i % 10}`).join(" ")}`;
  const body = { model: "m", messages: [{ role: "user", content }], stream: true, max_tokens: 1 };
  return ask(`${url}/v1/chat/completions`, body, ms === null ? {} : { "x-farmgate-deadline-ms": String(ms) }).answer;
}

const isOnTime = ({ status, firstByteAt, sentAt }: Answer) => status === 200 && firstByteAt - sentAt <= DEADLINE_MS;

/** The long ones come first: whoever serves by arrival has no time left for the others. */
async function burst(url: string): Promise<Answer[]> {
  const lengths = [...Array.from({ length: 5 }, () => LONG), ...Array.from({ length: 10 }, () => SHORT)];
  return Promise.all(lengths.map((words) => send(url, words, DEADLINE_MS)));
}

it("of a burst more are on time by their deadlines than by arrival, and what is hopeless is told at once", async () => {
  const machine = await startMachine(cleanup, "box", [MACHINE]);
  await machine.order("m", "load");
  const config = { sseComments: 0, scheduling: "greedy" };
  const { gateway, url } = await startTestGateway(cleanup, { box: machine.url }, config);
  const byArrival = (await burst(url)).filter(isOnTime).length;

  await writeFile(gateway.file, (await readFile(gateway.file, "utf8")).replace("greedy", "deadline"));
  gateway.child.kill("SIGHUP");
  await until(async () => "queue" in (await explained(url, "m")), "the changed file in force");
  for (const words of [SHORT, 500, SHORT, 500]) expect((await send(url, words, null)).status).toBe(200);
  const answers = await burst(url);
  const byDeadline = answers.filter(isOnTime).length;
  const refused = answers.filter(({ status }) => status === 503);
  const toldMs = refused.map(({ endedAt, sentAt }) => Math.round(endedAt - sentAt));
  console.log(
    `deadlines: of 15 on time ${byArrival} by arrival, ${byDeadline} by deadline; refused after ${toldMs.join(", ")} ms`,
  );
  expect(byDeadline).toBeGreaterThan(byArrival);
  for (const { body } of refused) expect(JSON.parse(body)).toMatchObject({ error: { code: "deadline" } });

  const hopeless = await send(url, LONG, 50);
  expect(JSON.parse(hopeless.body).error.message).toMatch(/predicted after \S+ m?s, 50 ms were asked for/);
  expect(hopeless.headers["x-should-retry"]).toBe("false");
  expect(hopeless.headers).not.toHaveProperty("x-farmgate-worker");
  expect(await explained(url, "m")).toMatchObject({ decision: { worker: "box" } });
  expect(await farmgateSays(url, "explain", "m")).toContain("Queue: 0 waiting by their deadlines; 1 slots");
});
