import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { FrameReader, OPCODE, writeFrame } from "../../src/decide/frames.ts";
import { ask, engineWith } from "./ask.ts";

const KINDS = { models: [{ name: "sound", kind: "audio" }, { name: "draw", kind: "image" }, "chat"] };

test("forms are read, and their answers are of the type that was asked for", async () => {
  const engine = await engineWith(KINDS);
  const post = async (path: string, parts: Record<string, string | Blob>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(parts)) form.append(name, value);
    const answer = await fetch(engine.url + path, { method: "POST", body: form });
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
  };
  const sound = new Blob(["some sound"]);
  const heard = await post("/v1/audio/transcriptions", { file: sound, model: "sound", response_format: "text" });
  expect(heard).toMatchObject({ status: 200, type: "text/plain; charset=utf-8" });
  const again = await post("/inference", { model: "sound", file: sound });
  expect(JSON.parse(again.text)).toEqual({ text: heard.text.trimEnd() });
  expect(await post("/v1/audio/translations", { model: "draw", file: sound })).toMatchObject({ status: 501 });
  const drawn = await post("/v1/images/edits", { model: "draw", prompt: "p", image: sound });
  expect(JSON.parse(drawn.text)).toMatchObject({ data: [{ b64_json: expect.stringMatching(/^iVBOR/) }] });
  const broken = await ask(engine, "POST", "/v1/images/edits", "no form", {
    "content-type": "multipart/form-data; boundary=x",
  }).answer;
  expect(broken.status).toBe(500);
});

test("the catalogue tells of models that no llama-server has what they are for", async () => {
  const engine = await engineWith({ ...KINDS, apis: ["speech", "chat", "image-edits"] });
  const list = JSON.parse((await ask(engine, "GET", "/v1/models").answer).body) as { data: { meta: object }[] };
  expect(list.data.map(({ meta }) => meta)).toMatchObject([
    { apis: ["speech"] },
    { apis: ["image-edits"] },
    expect.not.objectContaining({ apis: expect.anything() }),
  ]);
});

describe("a realtime session", () => {
  const HANDSHAKE =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nHost: x\r\n\r\n";

  function open(port: number, target: string) {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const reader = new FrameReader();
    let head = "";
    const frames: { opcode: number; text: string }[] = [];
    let look = () => {};
    socket.on("data", (bytes) => {
      const rest = head.includes("\r\n\r\n") ? bytes : readHead(bytes);
      for (const { opcode, payload } of reader.push(rest)) frames.push({ opcode, text: payload.toString() });
      look();
    });
    const readHead = (bytes: Buffer) => {
      head += bytes.toString("latin1");
      const end = head.indexOf("\r\n\r\n") + 4;
      const rest = Buffer.from(head.slice(end), "latin1");
      head = head.slice(0, end);
      return rest;
    };
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write(`GET ${target} HTTP/1.1\r\n${HANDSHAKE}`);
    return {
      head: () => head,
      closed,
      send: (opcode: number, text: string) => socket.write(writeFrame(opcode, Buffer.from(text), Buffer.from("mask"))),
      sendRaw: (bytes: Buffer) => socket.write(bytes),
      leave: () => socket.destroy(),
      got: (count: number) =>
        new Promise<typeof frames>((resolve) => {
          look = () => frames.length >= count && resolve(frames.splice(0));
          look();
        }),
    };
  }

  test("holds a slot, answers what it is asked, and frees the slot with its end", async () => {
    const engine = await engineWith({ ...KINDS, slots: 1 });
    const first = open(engine.port, "/v1/realtime?model=sound");
    expect(JSON.parse((await first.got(1))[0]?.text ?? "")).toMatchObject({ type: "session.created" });
    expect(first.head()).toContain("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    const second = open(engine.port, "/v1/realtime?model=sound");
    await engine.waitFor(({ queued }) => queued === 1);
    first.send(OPCODE.text, '{"type":"response.create"}');
    const reply = (await first.got(8)).map(({ text }) => (JSON.parse(text) as { type: string }).type);
    expect(reply).toEqual(["response.created", ...Array(6).fill("response.output_text.delta"), "response.done"]);
    first.send(OPCODE.ping, "still there?");
    first.send(OPCODE.binary, "sound");
    first.sendRaw(Buffer.concat([Buffer.from([0x01, 2]), Buffer.from("he")]));
    first.sendRaw(Buffer.concat([Buffer.from([0x80, 1]), Buffer.from("y")]));
    expect(await first.got(3)).toEqual([
      { opcode: OPCODE.pong, text: "still there?" },
      { opcode: OPCODE.binary, text: "sound" },
      { opcode: OPCODE.text, text: '{"type":"echo","text":"hey"}' },
    ]);
    first.send(OPCODE.close, "");
    await first.closed;
    expect(await second.got(1)).toHaveLength(1);
    second.leave();
    await engine.waitFor(({ active, served, left }) => active === 0 && served + left === 2);
  });

  test.each([
    ["a model that it does not have", "/v1/realtime?model=x", /^HTTP\/1\.1 400 /],
    ["a model that draws", "/v1/realtime?model=draw", /^HTTP\/1\.1 501 /],
    ["another path", "/v1/chat/completions?model=chat", /^HTTP\/1\.1 404 /],
  ])("is refused in HTTP for %s", async (_, target, status) => {
    const engine = await engineWith(KINDS);
    const caller = open(engine.port, target);
    await caller.closed;
    expect(caller.head()).toMatch(status);
  });
});
