import { afterEach, describe, expect, it } from "vitest";
import { ask, askChat, getJson } from "../harness/ask.ts";
import { Cleanup, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { OllamaLike, type OllamaOptions } from "../harness/ollama-like.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface ModelEntry {
  id: string;
  farmgate: { workers: string[]; warm: string[]; context_length: number | null; variants?: object[] };
}

async function startOllama(options: OllamaOptions): Promise<OllamaLike> {
  return cleanup.add(await new OllamaLike(options).open(), (ollama) => ollama.die());
}

async function listOf(url: string): Promise<ModelEntry[]> {
  return (await getJson<{ data: ModelEntry[] }>(`${url}/v1/models`)).data;
}

function errorIn(body: string): { code: string; message: string } {
  return (JSON.parse(body) as { error: { code: string; message: string } }).error;
}

function askWith(url: string, model: string, headers: Record<string, string>) {
  return ask(`${url}/v1/chat/completions`, { model, messages: [{ role: "user", content: "?" }] }, headers).answer;
}

/** Who answered, and by which name it was asked; or the error's code. */
async function answered(url: string, model: string): Promise<string> {
  const { status, headers, body } = await askChat(url, model, { stream: false }).answer;
  if (status !== 200) return errorIn(body).code;
  return [headers["x-farmgate-worker"], headers["x-farmgate-model"]].map(String).join(":");
}

describe("one model under several spellings", () => {
  it("is one entry, and each worker is asked by its own", async () => {
    const ollama = await startOllama({ models: ["llama3.2", "hf.co/org/M-GGUF:Q4_K_M"] });
    const router = await startTestEngine(cleanup, { models: ["LLAMA3.2", "org/M-GGUF:Q4_K_M"], maxLoaded: 2 });
    const { url } = await startTestGateway(cleanup, { mac: ollama.url, box: router.url });
    const list = await listOf(url);
    expect(list.map(({ id }) => id)).toEqual(["hf.co/org/M-GGUF:Q4_K_M", "llama3.2"]);
    expect(list.map(({ farmgate }) => farmgate.workers)).toEqual([
      ["mac", "box"],
      ["mac", "box"],
    ]);
    const spellings = ["llama3.2", "llama3.2:latest", "LLAMA3.2", "library/llama3.2"];
    for (const name of spellings) {
      expect(await answered(url, `${name}@mac`)).toBe("mac:llama3.2:latest");
      expect(await answered(url, `${name}@box`)).toBe("box:LLAMA3.2");
    }
    for (const name of ["hf.co/org/M-GGUF:Q4_K_M", "org/m-gguf:q4_k_m", "huggingface.co/ORG/M-GGUF:Q4_K_M"]) {
      expect(await answered(url, `${name}@mac`)).toBe("mac:hf.co/org/M-GGUF:Q4_K_M");
      expect(await answered(url, `${name}@box`)).toBe("box:org/M-GGUF:Q4_K_M");
      expect(await answered(url, name)).toMatch(/^(mac:hf\.co\/|box:)org\/M-GGUF:Q4_K_M$/);
      for (const path of [name, encodeURIComponent(name)]) {
        expect((await getJson<ModelEntry>(`${url}/v1/models/${path}`)).id).toBe("hf.co/org/M-GGUF:Q4_K_M");
      }
    }
  });
});

describe("a name that is not one model", () => {
  it("is a 404 that lists all that begin so", async () => {
    const ollama = await startOllama({ models: ["qwen3:8b", "qwen3:4b"] });
    const { url } = await startTestGateway(cleanup, { mac: ollama.url });
    const { status, body } = await askChat(url, "qwen3", { stream: false }).answer;
    expect([status, errorIn(body).code]).toEqual([404, "model_not_found"]);
    expect(errorIn(body).message).toContain('several of that name: "qwen3:4b", "qwen3:8b"');
    const found = await fetch(`${url}/v1/models/qwen3`);
    expect(found.status).toBe(404);
    expect(errorIn(await found.text()).message).toContain('"qwen3:4b", "qwen3:8b"');
  });

  it("is a 404 that lists both where two workers have it as an alias of different models", async () => {
    const small = { name: "small", aliases: ["fast"] };
    const big = { name: "big", aliases: ["Fast", "small"] };
    const a = await startTestEngine(cleanup, { models: [small] });
    const b = await startTestEngine(cleanup, { models: [big] });
    const workers = { a: a.url, b: b.url };
    const { url } = await startTestGateway(cleanup, workers);
    const { status, body } = await askChat(url, "fast", { stream: false }).answer;
    expect([status, errorIn(body).code]).toEqual([404, "model_not_found"]);
    expect(errorIn(body).message).toContain('"small" (a), "big" (b)');
    expect(await answered(url, "fast@b")).toBe("b:big");
    for (let turn = 0; turn < 4; turn += 1) expect(await answered(url, "small")).toBe("a:small");

    const decided = await startTestGateway(cleanup, workers, { models: { aliases: { fast: "big" } } });
    expect(await answered(decided.url, "FAST")).toBe("b:big");
  });

  it("never becomes another worker's model because the one that has it is gone", async () => {
    const a = await startOllama({ models: ["small"] });
    const b = await startTestEngine(cleanup, { models: [{ name: "big", aliases: ["small"] }] });
    const { url, farm } = await startTestGateway(cleanup, { a: a.url, b: b.url });
    await a.die();
    expect(await answered(url, "small")).toMatch(/^(worker_failed|no_worker)$/);
    await until(async () => (await farm())[0]?.state === "unhealthy", "it is out");
    expect(await answered(url, "small")).toBe("no_worker");
    expect(await answered(url, "big")).toBe("b:big");
  });
});

describe("variants of one model", () => {
  const q4 = { name: "m", quantization: "Q4_K_M", digest: "4".repeat(64) };
  const q8 = { name: "m", quantization: "Q8_0", digest: "8".repeat(64) };

  it("are shown and can be addressed, to the one worker only", async () => {
    const one = await startOllama({ models: [q4, "only-here"] });
    const two = await startOllama({ models: [q8] });
    const config = { models: { aliases: { fast: "m", eight: "m@two" }, fallbacks: { "m@two": ["m@one"] } } };
    const { url, farm } = await startTestGateway(cleanup, { one: one.url, two: two.url }, config);
    const [, , m] = await listOf(url);
    expect(m?.farmgate).toMatchObject({
      workers: ["one", "two"],
      variants: [
        { id: "m@one", worker: "one", digest: q4.digest, quantization: "Q4_K_M" },
        { id: "m@two", worker: "two", digest: q8.digest, quantization: "Q8_0" },
      ],
    });
    expect(await getJson(`${url}/v1/models/m@two`)).toMatchObject({ id: "m@two", farmgate: { workers: ["two"] } });
    expect(await getJson(`${url}/v1/models/${encodeURIComponent("m@one")}`)).toMatchObject({ id: "m@one" });
    const models = await getJson<{ models: { id: string; lacking: string[]; variants?: object[] }[] }>(
      `${url}/farm/models`,
    );
    expect(models.models).toMatchObject([
      { id: "m", lacking: [], variants: [{ id: "m@one" }, { id: "m@two" }] },
      { id: "only-here", lacking: ["two"] },
    ]);

    for (const name of ["m@two", "M:latest@two", "fast@two", "eight"]) {
      expect(await answered(url, name)).toBe("two:m:latest");
    }
    for (let turn = 0; turn < 3; turn += 1) expect(await answered(url, "m@one")).toBe("one:m:latest");
    expect(await answered(url, "only-here@two")).toBe("model_not_found");
    const dry = await askWith(url, "m@one", { "x-farmgate-dry-run": "1" });
    expect(JSON.parse(dry.body)).toMatchObject({
      decision: { kind: "send", worker: "one" },
      ranked: [{ worker: "one", variant: { quantization: "Q4_K_M" } }],
      out: [{ worker: "two" }],
    });
    const told = await explained(["status", "--gateway", url]);
    expect(told).toContain("m: its copies differ: m@one (Q4_K_M");
    expect(await explained(["explain", "m@two", "--gateway", url])).toContain("would go to two.");

    await two.die();
    await until(async () => (await farm())[1]?.state === "unhealthy", "it is out");
    expect(await answered(url, "m@two")).toBe("one:m:latest");
    expect(await answered(url, "fast@two")).toBe("no_worker");
  });

  it("are not a way around a key's models", async () => {
    const one = await startOllama({ models: [q4, "other"] });
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const keys = [{ name: "k", key: "only-others", models: ["oth*"] }];
    await cleanup.program("gateway", { listen: { port }, keys, workers: [{ name: "one", url: one.url }] }, url);
    const outcome = async (model: string) => {
      const { status, body } = await askWith(url, model, { authorization: "Bearer only-others" });
      return status === 200 ? "served" : errorIn(body).code;
    };
    for (const name of ["m", "m@one", "M:latest@one", "hf.co/m", "library/m", "hf.co/M@one"]) {
      expect([name, await outcome(name)]).toEqual([name, "model_not_allowed"]);
    }
    for (const name of ["other", "other@one", "library/OTHER"]) expect(await outcome(name)).toBe("served");
  });

  it("are not mixed within a request: the next try goes to the same one, or to nobody", async () => {
    const first = await startOllama({ models: [q4], answerMs: 60_000 });
    const eight = await startOllama({ models: [q8] });
    const same = await startOllama({ models: [q4] });
    const workers = { first: first.url, eight: eight.url, same: same.url };
    const { url, farm } = await startTestGateway(cleanup, workers);
    await fetch(`${first.url}/api/generate`, { method: "POST", body: '{"model":"m"}' });
    await until(async () => (await farm())[0]?.models[0]?.state === "warm", "the first is warm");

    const asked = askChat(url, "m", { stream: false });
    await until(() => first.headers.length > 1, "the first is asked");
    await first.die();
    const { status, headers } = await asked.answer;
    expect([status, headers["x-farmgate-worker"], headers["x-farmgate-attempts"]]).toEqual([200, "same", "2"]);
    expect(eight.headers).toEqual([]);

    await until(async () => (await farm())[2]?.models[0]?.state === "warm", "the same is warm");
    same.models.answerMs = 60_000;
    const before = same.headers.length;
    const last = askChat(url, "m", { stream: false });
    await until(() => same.headers.length > before, "the last of them is asked");
    await same.die();
    const refused = await last.answer;
    expect(refused.status).toBe(502);
    expect(errorIn(refused.body).message).toContain("not asked: eight has another variant: Q8_0");
    expect(eight.headers).toEqual([]);
    // Another request is no part of that one.
    await until(async () => (await farm())[2]?.state === "unhealthy", "it is out");
    expect(await answered(url, "m")).toBe("eight:m:latest");
  });
});

/** What the command prints. */
async function explained(args: string[]): Promise<string> {
  const program = cleanup.add(runFarmgate(args), ({ child }) => child.kill());
  await program.ended;
  return program.stdout();
}
