import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { type Asked, ask } from "../harness/ask.ts";
import { Cleanup, type FarmgateProcess, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { type HeldWorker, startHeldWorker } from "../harness/held-worker.ts";
import { processesOf } from "../harness/processes-of.ts";
import { rawAsk } from "../harness/raw-ask.ts";
import { until } from "../harness/until.ts";

const PROCESSES = 2;
const CHAT = "/v1/chat/completions";
const HELD = { model: "m", stream: true, messages: [{ role: "user", content: "x" }] };
const ASKED = JSON.stringify(HELD);
const JSON_HEAD = { "content-type": "application/json", "content-length": String(ASKED.length) };

const cleanup = new Cleanup();
let workers: Record<"one" | "two", HeldWorker>;
let gateway: FarmgateProcess & { url: string; file: string };
/** The same once more, at an address that is taken. */
let second: FarmgateProcess;

interface Health {
  processes: number;
  inflight: number;
}

const health = async () => (await (await get("/health")).json()) as Health;
/** Each on a connection of its own, so that every process has its turn. */
const get = (path: string, init: RequestInit = {}) =>
  fetch(gateway.url + path, { ...init, headers: { connection: "close" } });
const held = (count: number) => Array.from({ length: count }, () => ask(gateway.url + CHAT, HELD));
const begun = (asked: readonly Asked[]) => Promise.all(asked.map(({ firstByte }) => firstByte));
const children = async () =>
  (await processesOf(gateway.file)).map(({ pid }) => pid).filter((pid) => pid !== gateway.child.pid);

/** Requests at each worker now, and how far apart these two numbers ever were, both counted at the workers. */
const at = { one: 0, two: 0, apart: 0 };

beforeAll(async () => {
  workers = { one: await startHeldWorker(cleanup), two: await startHeldWorker(cleanup) };
  for (const name of ["one", "two"] as const) {
    const { raw } = workers[name];
    const { answer } = raw;
    raw.answer = (request) => {
      at[name] += 1;
      at.apart = Math.max(at.apart, Math.abs(at.one - at.two));
      return answer(request);
    };
  }
  const [port = 0] = await freePorts(1);
  const config = {
    listen: { port },
    processes: PROCESSES,
    health: { interval: "200ms" },
    retry: { attempts: 1 },
    workers: (["one", "two"] as const).map((name) => ({ name, url: workers[name].raw.url })),
  };
  gateway = await cleanup.program("gateway", config, `http://127.0.0.1:${port}`);
  const again = join(await cleanup.folder(), "again.yaml");
  await writeFile(again, stringify(config));
  second = cleanup.add(runFarmgate(["gateway", "--config", again]), (program) => program.stop());
  await until(async () => (await health()).processes === PROCESSES, "all processes are there");
  await until(async () => {
    const text = await (await get("/metrics")).text();
    return (text.match(/farmgate_worker_up\{worker="\w+"\} 1/g) ?? []).length === 2;
  }, "both workers are known");
});

afterAll(() => cleanup.run());

it("spreads requests by what all processes have under way, exactly, and counts them as one gateway", async () => {
  const asked: Asked[] = [];
  for (let i = 0; i < 20; i += 1) {
    asked.push(...held(1));
    await begun(asked);
  }
  expect(at).toEqual({ one: 10, two: 10, apart: 1 });
  // On their way at once, they need not come to the workers in the order in which they were counted.
  asked.push(...held(20));
  await begun(asked);
  expect(at).toMatchObject({ one: 20, two: 20 });
  expect(await health()).toMatchObject({ processes: PROCESSES, inflight: 40 });
  const text = await (await get("/metrics")).text();
  expect(text).toContain('farmgate_inflight{worker="one"} 20');
  expect(text).toContain('farmgate_inflight{worker="two"} 20');
  // Seen alike by all, so that it is no sum.
  expect(text).toContain('farmgate_worker_up{worker="one"} 1');
  for (const { leave } of asked) leave();
  await until(async () => (await health()).inflight === 0, "all have left");
  at.one = at.two = 0;
});

it("shows and ends every request from every process", async () => {
  const asked = held(4);
  await begun(asked);
  for (let left = 4; left > 0; left -= 1) {
    const { requests } = (await (await get("/farm/requests")).json()) as { requests: { id: string }[] };
    expect(requests).toHaveLength(left);
    const answer = await get(`/farm/requests/${requests[0]?.id}`, { method: "DELETE" });
    expect(answer.status).toBe(200);
    await until(async () => (await health()).inflight === left - 1, "it has ended");
  }
  at.one = at.two = 0;
});

it("goes on without a process that was killed, at once without its counts, and starts it again", async () => {
  const before = await children();
  expect(before).toHaveLength(PROCESSES);
  const asked = held(20);
  await begun(asked);
  const killed = before[0] ?? 0;
  process.kill(killed, "SIGKILL");
  let broken = 0;
  for (const { answer } of asked) void answer.then(({ complete }) => (broken += complete ? 0 : 1));
  // Whoever was just handed to it sees its connection broken, and does not wait.
  const counted = () =>
    health().then(
      ({ inflight }) => inflight,
      () => null,
    );
  await until(async () => broken > 0 && (await counted()) === 20 - broken, "its requests are not counted any more");
  // What comes now finds room where those were, and makes it even again.
  const more = held(broken);
  await begun(more);
  const text = await (await get("/metrics")).text();
  expect(text).toContain('farmgate_inflight{worker="one"} 10');
  expect(text).toContain('farmgate_inflight{worker="two"} 10');
  workers.one.release();
  workers.two.release();
  const answers = await Promise.all([...asked, ...more].map(({ answer }) => answer));
  expect(answers.filter(({ complete, body }) => complete && body.includes("[DONE]"))).toHaveLength(20);
  await until(async () => (await health()).processes === PROCESSES, "it is there again");
  expect(await children()).not.toContain(killed);
});

it("serves all that comes while one process is told to end, and starts it again", async () => {
  const callers = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  for (const caller of callers) cleanup.add(caller, (agent) => agent.destroy());
  const { port } = new URL(gateway.url);
  const silent = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const socket = cleanup.add(connect(Number(port), "127.0.0.1"), (open) => open.destroy());
      await once(socket, "connect");
      return socket;
    }),
  );
  const statuses = (count: number) =>
    Promise.all([
      ...callers.map(async (agent) => (await rawAsk("POST", gateway.url + CHAT, JSON_HEAD, ASKED, agent)).status),
      ...held(count).map(async ({ answer }) => (await answer).status),
    ]);
  // Each of them keeps its connection, and half of these end at the process that is to go.
  expect(new Set(await statuses(8))).toEqual(new Set([200]));
  const told = (await children())[0] ?? 0;
  process.kill(told, "SIGTERM");
  await until(() => gateway.stdout().includes("leaves: the other processes take"), "it takes no new ones");
  const asked = silent.map(async (socket) => {
    socket.write(
      `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${ASKED.length}\r\n\r\n${ASKED}`,
    );
    return (await text(socket)).slice(0, 12);
  });
  expect(new Set(await statuses(40))).toEqual(new Set([200]));
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["HTTP/1.1 200"]));
  expect(new Set(await statuses(40))).toEqual(new Set([200]));
  await until(async () => !(await children()).includes(told), "it has ended");
  await until(async () => (await health()).processes === PROCESSES, "another one is there");
});

it("keeps its processes and its port while all are told to end, each once another listens for the one before", async () => {
  const worker = await startHeldWorker(cleanup);
  const { one, two } = workers;
  const answered = [one.raw.answer, two.raw.answer] as const;
  one.raw.answer = two.raw.answer = worker.raw.answer;
  const asked = held(8);
  await begun(asked);
  const before = await children();
  const listening = () => gateway.stdout().split('"msg":"listening"').length;
  for (const pid of before) {
    const listened = listening();
    process.kill(pid, "SIGTERM");
    await until(() => listening() > listened, "another listens in its place");
  }
  expect(await children()).toEqual(expect.arrayContaining(before));
  // All of those that had the port at first end now.
  asked.push(...held(8));
  await begun(asked);
  await until(async () => (await health()).inflight === 16, "those that begin know of all");
  expect(await health()).toMatchObject({ processes: 2 * PROCESSES });
  worker.release();
  const answers = await Promise.all(asked.map(({ answer }) => answer));
  expect(answers.every(({ complete, body }) => complete && body.includes("[DONE]"))).toBe(true);
  await until(async () => (await health()).processes === PROCESSES, "those that were told have ended");
  expect(await children()).toHaveLength(PROCESSES);
  [one.raw.answer, two.raw.answer] = answered;
});

it("goes on by itself while the primary is held up, says so, and is one with the others again", async () => {
  const agent = cleanup.add(new Agent({ keepAlive: true, maxSockets: 1 }), (kept) => kept.destroy());
  const see = async (path: string) => (await rawAsk("GET", gateway.url + path, {}, undefined, agent)).body;
  const together = async () => (JSON.parse(await see("/health")) as { together: { trouble: string | null } }).together;
  expect(await together()).toMatchObject({ trouble: null });
  const { pid = 0 } = gateway.child;
  process.kill(pid, "SIGSTOP");
  try {
    const { status } = await rawAsk("POST", gateway.url + CHAT, JSON_HEAD, ASKED, agent);
    expect(status).toBe(200);
    await until(async () => (await together()).trouble !== null, "it is told");
    expect(await see("/metrics")).toContain("farmgate_together_up 0");
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await until(async () => (await together()).trouble === null, "it is one with the others again");
  // The log is written some time later.
  for (const words of ["does not answer", "answers again"]) {
    await until(() => gateway.stdout().includes(`the primary process ${words}`), `it is logged: ${words}`);
  }
  await until(async () => (await health()).inflight === 0, "nothing is counted twice");
});

it("applies a changed file in all processes, and refuses a bad one once", async () => {
  const config = parse(await readFile(gateway.file, "utf8")) as { processes: number };
  const count = (words: string) => gateway.stdout().split(words).length - 1;
  await writeFile(gateway.file, stringify({ ...config, nonsense: 1 }));
  await until(() => count("the changed configuration is refused") > 0, "the bad file is refused");
  await writeFile(gateway.file, stringify({ ...config, processes: 3, models: { aliases: { fast: "m" } } }));
  await until(() => count("a restart is needed for: processes") > 0, "what waits for a restart is told");
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => ask(gateway.url + CHAT, { ...HELD, model: "fast" }).answer),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(count("the changed configuration is refused")).toBe(1);
});

it("says like a single process that its address is in use", async () => {
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toMatch(/port \d+ on 127\.0\.0\.1 is in use by another program; change listen\.port in/);
});

it("lets running answers end when it is stopped", async () => {
  // These hold again.
  const [worker] = [await startHeldWorker(cleanup)];
  workers.one.raw.answer = workers.two.raw.answer = worker.raw.answer;
  const asked = held(4);
  await begun(asked);
  gateway.child.kill("SIGTERM");
  // One that comes in that moment is answered or refused, and never waits.
  const letIn = () =>
    get("/").then(
      () => true,
      () => false,
    );
  await until(async () => !(await letIn()), "nobody is let in any more");
  worker.release();
  const answers = await Promise.all(asked.map(({ answer }) => answer));
  expect(answers.map(({ complete }) => complete)).toEqual([true, true, true, true]);
  expect(await gateway.ended).toBe(0);
});

it("ends its processes when the primary is killed", async () => {
  const [port = 0] = await freePorts(1);
  const config = { listen: { port }, processes: PROCESSES, workers: [] };
  gateway = await cleanup.program("gateway", config, `http://127.0.0.1:${port}`);
  await until(async () => (await health()).processes === PROCESSES, "all processes are there");
  gateway.child.kill("SIGKILL");
  await gateway.ended;
  await until(async () => (await children()).length === 0, "the others have ended");
  expect(await processesOf(gateway.file)).toEqual([]);
});
