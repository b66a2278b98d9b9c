import { describe, expect, it } from "vitest";
import { Recording, type SeenRequest } from "../../src/trace/recording.ts";

function seen(more: Partial<SeenRequest> = {}): SeenRequest {
  return {
    arrivedAt: 1_010,
    firstByteAt: 1_030,
    endedAt: 1_100,
    model: "m",
    callerName: "",
    api: "chat",
    usage: { prompt: 12, completion: 34 },
    bytes: 400,
    events: null,
    priority: null,
    deadlineMs: null,
    status: 200,
    ...more,
  };
}

function record() {
  const written: string[] = [];
  const sink = { backlog: 0, ended: false };
  const recording = new Recording(
    {
      waiting: () => sink.backlog,
      write: (text) => void written.push(text),
      end: () => {
        sink.ended = true;
      },
    },
    1_000,
    "2026-01-01T00:00:00.000Z",
  );
  const lines = () => written.map((text) => JSON.parse(text) as Record<string, unknown>);
  return { recording, written, sink, lines };
}

describe("a recording", () => {
  it("begins with its head, and tells of a request when it came, how much it was and how it went", () => {
    const { recording, written, lines } = record();
    recording.ended(seen({ callerName: "alice", priority: "batch", deadlineMs: 500 }));
    expect(written.every((text) => text.endsWith("}\n"))).toBe(true);
    expect(lines()).toEqual([
      { farmgate_trace: 1, started: "2026-01-01T00:00:00.000Z" },
      {
        at: 10,
        model: "m",
        api: "chat",
        input: 12,
        output: 34,
        key: 1,
        priority: "batch",
        deadline: 500,
        status: 200,
        ttft: 20,
        ms: 90,
      },
    ]);
  });

  it("has a number in place of each key's name, the same one all through", () => {
    const { recording, written, lines } = record();
    for (const callerName of ["alice", "bob", "", "alice"]) recording.ended(seen({ callerName }));
    expect(lines().map(({ key }) => key)).toEqual([undefined, 1, 2, undefined, 1]);
    expect(written.join("")).not.toMatch(/alice|bob/);
  });

  it("leaves out what came before it", () => {
    const { recording, lines } = record();
    recording.ended(seen({ arrivedAt: 999 }));
    expect(lines()).toHaveLength(1);
  });

  it.each<[string, Partial<SeenRequest>, Record<string, unknown>]>([
    ["by the bytes of a prompt and the events of a stream", { usage: null, events: 21 }, { input: 100, output: 21 }],
    ["of a picture no more than a long prompt", { usage: null, events: 1, bytes: 9e6 }, { input: 32_768, output: 1 }],
    ["of one that nobody answered by the model's other answers", { usage: null, status: 503 }, { output: 34 }],
    ["only of what was not counted", { usage: { prompt: 7, completion: null }, events: 3 }, { input: 7, output: 3 }],
  ])("guesses tokens that no engine counted, and says so: %s", (_, more, expected) => {
    const { recording, lines } = record();
    recording.ended(seen());
    recording.ended(seen(more));
    expect(lines()[1]).not.toHaveProperty("estimated");
    expect(lines()[2]).toMatchObject({ ...expected, estimated: true });
  });

  it("counts no output for what is not answered in tokens, and leaves out what is not asked in them", () => {
    const { recording, lines } = record();
    recording.ended(seen({ api: "embeddings", usage: { prompt: 9, completion: null } }));
    recording.ended(seen({ api: "speech" }));
    expect(lines().slice(1)).toEqual([
      { at: 10, model: "m", api: "embeddings", input: 9, output: 0, status: 200, ttft: 20, ms: 90 },
    ]);
  });

  it("holds no more than a reader will take, and tells it of what it lost before it goes on", () => {
    const { recording, sink, lines, written } = record();
    sink.backlog = 1_024 * 1_024;
    for (let i = 0; i < 3; i += 1) recording.ended(seen());
    recording.stayAlive();
    expect(written).toHaveLength(1);
    sink.backlog = 0;
    recording.ended(seen());
    expect(lines().slice(1)).toEqual([{ lost: 3 }, expect.objectContaining({ at: 10 })]);
    sink.backlog = Infinity;
    recording.ended(seen());
    recording.end();
    expect(lines().at(-1)).toEqual({ lost: 1 });
    expect(sink.ended).toBe(true);
  });
});
