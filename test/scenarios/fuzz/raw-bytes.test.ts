import * as fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { getJson } from "../../harness/ask.ts";
import { Cleanup, type FarmgateProcess } from "../../harness/farmgate-process.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { startTestGateway } from "../../harness/gateway-farm.ts";
import { rawCallers } from "../../harness/nearly-http.ts";
import { play } from "../../harness/raw-caller.ts";
import { readStrictly } from "../../harness/strict-answers.ts";
import { startStrictEngine } from "../../harness/strict-engine.ts";
import { nothingUnderWay } from "../../harness/under-way.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** For how long each program is tried, in seconds; FARMGATE_FUZZ_SECONDS is another time. */
const SECONDS = Number(process.env["FARMGATE_FUZZ_SECONDS"] ?? 3);
const LIMIT = SECONDS * 1_000 + 60_000;
/** Callers at once. */
const CALLERS = 100;

const INFERENCE = [
  ..."/v1/chat/completions /v1/completions /v1/embeddings /v1/responses /v1/rerank /v1/messages".split(" "),
  ..."/v1/messages/count_tokens /v1/audio/transcriptions /v1/audio/speech /v1/images/edits".split(" "),
  ..."/completion /tokenize /infill /inference /api/chat /api/generate /api/embed /api/embeddings".split(" "),
];
const GATEWAY = [
  ...INFERENCE,
  ..."/ /livez /readyz /health /metrics /v1/models /v1/models/{} /api/tags /api/ps /api/version".split(" "),
  ..."/api/show /api/pull /api/blobs/{} /v1/realtime /farm/workers /farm/models /farm/requests".split(" "),
  ..."/farm/requests/{} /farm/explain /farm/workers/{}/drain /farm/workers/{}/resume /farm/workers/raw/drain".split(
    " ",
  ),
];
const AGENT = [
  ...INFERENCE,
  ..."/health /metrics /catalog /v1/models /v1/models/{} /models/{}/load /models/{}/unload /models/{}/log".split(" "),
  ..."/models/m/load /models/m/unload /models/ /v1/realtime /drain /resume".split(" "),
];

/** Errors of the catalogue that a farm with one worker may answer; 500 is a fault of ours. */
const SERVER_ERRORS = [501, 502, 503, 504, 508];

/** So many requests must have got through as well, or nothing was tried. */
const SERVED = 20;

/** Lets callers come until the time is over and enough were served, `CALLERS` at once; `look` sees that all is well after each round. */
async function tryBytes(
  paths: readonly string[],
  port: number,
  served: () => number,
  look: () => Promise<void>,
): Promise<number> {
  const { seed = Date.now() | 0 } = fc.readConfigureGlobal();
  const end = performance.now() + SECONDS * 1_000;
  let tried = 0;
  for (let round = 0; performance.now() < end || served() < SERVED; round += 1) {
    const callers = fc.sample(rawCallers(paths), { numRuns: CALLERS, seed: seed + round });
    const answers = await Promise.all(callers.map((caller) => play(caller, port)));
    for (const [i, { bytes }] of callers.entries()) {
      const answer = answers[i] ?? Buffer.alloc(0);
      const problem = problemOf(answer, bytes.includes("HEAD "));
      // Read out as text: a list of byte values would tell a person nothing.
      const told = problem === null ? null : { seed: seed + round, problem, sent: text(bytes), got: text(answer) };
      expect(told).toBeNull();
    }
    tried += callers.length;
    await look();
  }
  return tried;
}

function problemOf(answer: Buffer, mayBeHead: boolean): string | null {
  try {
    const { statuses } = readStrictly(answer, mayBeHead);
    const bad = statuses.filter((status) => status >= 500 && !SERVER_ERRORS.includes(status));
    return bad.length === 0 ? null : `answered ${bad.join()}`;
  } catch (error) {
    return String(error);
  }
}

const text = (bytes: Buffer) => bytes.toString("latin1").slice(0, 3_000);

function sound(program: FarmgateProcess): void {
  expect(program.child.exitCode).toBeNull();
  const bad = program.output().split("\n");
  expect(bad.filter((line) => /"level":"(error|fatal)"|^\s+at |Uncaught|Warning:/.test(line))).toEqual([]);
}

it(
  "whatever bytes callers send, a gateway lives, answers in HTTP, and tells its worker nothing but good requests",
  async () => {
    const engine = await startStrictEngine(cleanup);
    const { gateway, url } = await startTestGateway(
      cleanup,
      {},
      {
        workers: [{ name: "raw", url: engine.url, engine: "vllm" }],
        timeouts: { firstByte: "5s" },
      },
    );
    const tried = await tryBytes(GATEWAY, Number(new URL(url).port), engine.served, async () => {
      expect((await fetch(`${url}/livez`)).status).toBe(200);
      expect((await fetch(`${url}/farm/workers/raw/resume`, { method: "POST" })).status).toBe(200);
    });
    await nothingUnderWay(url);
    const { workers } = await getJson<{ workers: { inflight: number }[] }>(`${url}/farm/workers`);
    expect(workers.map(({ inflight }) => inflight)).toEqual([0]);
    sound(gateway);
    expect(engine.faults).toEqual([]);
    console.log(`${tried} connections, ${engine.served()} requests served`);
  },
  LIMIT,
);

it(
  "whatever bytes callers send, an agent lives, answers in HTTP, and tells its engine nothing but good requests",
  async () => {
    const engine = await startStrictEngine(cleanup);
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const engines = [{ url: engine.url, engine: "vllm", poll: "200ms", slots: 64 }];
    const agent = await cleanup.program("agent", { name: "raw", listen: { port }, engines }, url);
    const catalogue = () =>
      getJson<{ models: { slots: { busy: number } }[]; queue: { depth: number } }>(`${url}/catalog`);
    await until(async () => (await catalogue()).models.length > 0, "the agent lists the engine's model");
    const tried = await tryBytes(AGENT, port, engine.served, async () => {
      expect((await fetch(`${url}/health`)).status).toBe(200);
      expect((await fetch(`${url}/resume`, { method: "POST" })).status).toBe(200);
    });
    await until(async () => {
      const { models, queue } = await catalogue();
      return queue.depth === 0 && models.every(({ slots }) => slots.busy === 0);
    }, "nothing is under way");
    sound(agent);
    expect(engine.faults).toEqual([]);
    console.log(`${tried} connections, ${engine.served()} requests served`);
  },
  LIMIT,
);
