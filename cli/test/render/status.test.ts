import { describe, expect, test } from "vitest";
import { readStatus, renderStatus } from "../../src/render/status.ts";

const worker = (name: string, more: object = {}) => ({
  name,
  url: "http://127.0.0.1:1",
  engine: "agent",
  state: "healthy",
  catalog: "fresh",
  weight: 1,
  inflight: 0,
  problem: null,
  models: [],
  ...more,
});

const answers = {
  workers: {
    workers: [
      worker("gpu-box", {
        inflight: 3,
        models: [
          { id: "coder", state: "warm", queued: 1 },
          { id: "llama-70b", state: "cold", queued: 4 },
        ],
      }),
      worker("mac", { state: "unhealthy", catalog: "stale", engine: "ollama", problem: "nothing listens" }),
    ],
  },
  models: {
    models: [
      {
        id: "coder",
        kind: "chat",
        context_length: 65536,
        states: [{ worker: "gpu-box", state: "warm" }],
        note: "1 of 2 warm copies",
      },
      { id: "embed", kind: "embedding", context_length: null, states: [{ worker: "mac", state: "cold" }] },
    ],
  },
  requests: {
    requests: [
      { id: "r1", api: "chat", model: "coder", worker: "gpu-box", phase: "answering", caller: "", age_ms: 1234 },
    ],
  },
};

describe("the state of a farm as text", () => {
  test("workers with their queues and warm models, models with where they stand, requests with their age", () => {
    expect(renderStatus("http://127.0.0.1:8400", readStatus(answers), 80)).toBe(
      [
        "Farmgate at http://127.0.0.1:8400: 2 workers, 2 models, 1 request under way",
        "",
        "WORKER   STATE      CATALOG  ENGINE  INFLIGHT  QUEUED  WARM",
        "gpu-box  healthy    fresh    agent   3         5       coder",
        "mac      unhealthy  stale    ollama  0         -       -",
        "! mac: nothing listens",
        "",
        "MODEL  KIND       CONTEXT  WHERE",
        "coder  chat       65536    warm on gpu-box",
        "embed  embedding  -        cold on mac",
        "! coder: 1 of 2 warm copies",
        "",
        "REQUEST  MODEL  API   WORKER   PHASE      AGE    CALLER",
        "r1       coder  chat  gpu-box  answering  1.2 s  -",
        "",
      ].join("\n"),
    );
  });

  test("a request in an agent's queue with its place and the longest that it will still wait", () => {
    const waiting = (id: string, queue: object | null) => ({
      ...answers.requests.requests[0],
      id,
      phase: "asking",
      queue,
    });
    const requests = [
      waiting("r2", { position: 3, waited_ms: 12_000, bound_ms: 1_320_000 }),
      waiting("r3", { position: 1, waited_ms: 90_000, bound_ms: null }),
      waiting("r4", null),
    ];
    const lines = renderStatus("http://x", readStatus({ ...answers, requests: { requests } }), 80).split("\n");
    expect(lines.slice(-3)).toEqual([
      "r2 waits 12 s at gpu-box, place 3, at most 22 min more",
      "r3 waits 1 min 30 s at gpu-box, place 1",
      "",
    ]);
  });

  test("long names leave every table within the terminal", () => {
    const id = "mlx-community/Qwen3-Coder-30B-A3B-Instruct-4bit-with-a-very-long-name-indeed";
    const long = {
      workers: { workers: [worker("gpu-box", { models: [{ id, state: "warm", queued: 0 }] })] },
      models: { models: [{ id, kind: "chat", context_length: 1, states: [{ worker: "gpu-box", state: "warm" }] }] },
      requests: { requests: [] },
    };
    for (const line of renderStatus("http://127.0.0.1:8400", readStatus(long), 80).split("\n")) {
      expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  test("where a model stands begins with the workers that have it loaded", () => {
    const states = [
      { worker: "spare", state: "cold" },
      { worker: "gpu-box", state: "warm" },
      { worker: "attic", state: "cold" },
      { worker: "mac", state: "loading" },
    ];
    const models = { models: [{ id: "coder", kind: "chat", context_length: 1, states }] };
    expect(renderStatus("http://x", readStatus({ ...answers, models }), Infinity)).toContain(
      "warm on gpu-box; loading on mac; cold on spare, attic\n",
    );
  });

  test("a model of which workers have different copies, and which of them have none", () => {
    const states = [
      { worker: "gpu-box", state: "warm" },
      { worker: "mac", state: "cold" },
    ];
    const variants = [
      { id: "coder@gpu-box", digest: "sha256:0123456789abcdef", quantization: "Q4_K_M", context_length: 8_192 },
      { id: "coder@mac", digest: null, quantization: "Q8_0", context_length: null },
    ];
    const coder = { id: "coder", kind: "chat", context_length: 8_192, states, variants, lacking: ["cpu"] };
    const alone = { ...coder, id: "alone", states: states.slice(0, 1), variants: null };
    const text = renderStatus("http://x", readStatus({ ...answers, models: { models: [coder, alone] } }), 200);
    expect(text).toContain("warm on gpu-box; cold on mac; not on cpu\n");
    expect(text).toContain(
      "! coder: its copies differ: coder@gpu-box (Q4_K_M, context 8192, digest 0123456789ab), coder@mac (Q8_0)\n",
    );
    expect(text).toMatch(/alone .* warm on gpu-box\n/);
  });

  test("a farm without anything is told in one line and a heading", () => {
    const empty = { workers: { workers: [] }, models: { models: [] }, requests: { requests: [] } };
    expect(renderStatus("http://x", readStatus(empty), 80)).toContain("0 workers, 0 models, 0 requests under way");
  });

  test("what is no state is refused", () => {
    expect(() => readStatus({ ...answers, models: [] })).toThrow(/another version/);
  });

  test("shows no control character that a caller or a worker has put into a name", () => {
    const hostile = "\u001b[2J\u009b31m\nev\u202eil";
    const status = {
      workers: { workers: [worker("w", { problem: hostile, models: [{ id: hostile, state: "warm" }] })] },
      models: { models: [] },
      requests: {
        requests: [
          { id: "r", api: "chat", model: hostile, worker: null, phase: "waiting", caller: hostile, age_ms: 1 },
        ],
      },
    };
    const text = renderStatus("http://x", readStatus(status), 200);
    expect(text.match(/\?\[2J\?31m\?ev\?il/g)).toHaveLength(4);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  test("a line for gateways that act as one, and for those that cannot hear each other", () => {
    const line = (together: object) =>
      renderStatus("http://x", readStatus({ ...answers, workers: { ...answers.workers, together } }), 80).split(
        "\n",
      )[1];
    expect(line({ members: 3, trouble: null })).toBe("One of 3 gateways that act as one");
    expect(line({ members: 1, trouble: null })).toBe("The only gateway so far");
    expect(line({ members: 3, trouble: "Redis is away" })).toBe(
      "! It cannot hear the other gateways, and decides by what it sees: Redis is away",
    );
  });
});
