import { createHash, randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { Asked } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { type RawFarm, startRawFarm } from "../../harness/raw-farm.ts";
import { STREAM_HEAD, whole } from "../../harness/raw-worker.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const CHAT = "/v1/chat/completions";
const MB = 1_024 * 1_024;

const sha = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");

/** Resident memory of a process, in bytes: now, or at its highest so far. 0 where Linux does not tell it. */
function memory(pid: number, which: "VmRSS" | "VmHWM"): number {
  if (process.platform !== "linux") return 0;
  const line = new RegExp(`^${which}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) * 1_024;
}

/** A body of exactly this many bytes. */
function bodyOf(length: number): string {
  const frame = JSON.stringify({ model: "m", messages: [{ role: "user", content: "" }] });
  return frame.replace('""', `"${"x".repeat(length - frame.length)}"`);
}

interface Upload {
  status: number;
  body: string;
  /** Bytes that were taken of it. */
  sent: number;
}

/** Sends pieces in chunks, so without a Content-Length, as fast as they are taken; stops at an answer. */
function upload(farm: RawFarm, pieces: Iterable<Buffer | string>): Promise<Upload> {
  return new Promise((resolve) => {
    let sent = 0;
    const outgoing = request(`${farm.url}${CHAT}`, { method: "POST", agent: false });
    const source = pieces[Symbol.iterator]();
    const push = () => {
      for (;;) {
        const { value, done } = source.next();
        if (done === true) return void outgoing.end();
        sent += value.length;
        if (!outgoing.write(value)) return void outgoing.once("drain", push);
      }
    };
    outgoing.on("error", () => {});
    outgoing.on("response", (response: IncomingMessage) => {
      const got: Buffer[] = [];
      response.on("data", (piece: Buffer) => got.push(piece));
      response.on("end", () => {
        outgoing.destroy();
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(got).toString(), sent });
      });
    });
    push();
  });
}

const TOO_LARGE = { error: { code: "body_too_large", message: expect.stringContaining("1 MB") } };

describe("the body of a request", () => {
  it("may hold a picture of 12 MB with nothing configured, and reaches the worker as it is", async () => {
    const farm = await startRawFarm(cleanup, "openai");
    farm.worker.answer = ({ socket }) => void socket.write(whole("{}"));
    const picture = randomFillSync(Buffer.alloc(12 * MB)).toString("base64");
    const content = [{ type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } }];
    const body = JSON.stringify({ messages: [{ role: "user", content }], model: "m" });
    const [announced, chunked] = [await farm.ask(CHAT, JSON.parse(body) as object).answer, await upload(farm, [body])];
    expect([announced.status, chunked.status]).toEqual([200, 200]);
    expect(sha(farm.worker.asked[1]?.body ?? "")).toBe(sha(body));
    expect(farm.worker.asked[0]?.body.includes(picture)).toBe(true);
  });

  it("is refused with 413 in JSON by one byte over the limit, announced or not, and never by less", async () => {
    const farm = await startRawFarm(cleanup, "openai", { limits: { body: "1mb" } });
    farm.worker.answer = ({ socket }) => void socket.write(whole("{}"));
    const announce = async (length: number) => {
      const { status, body } = await farm.ask(CHAT, { ...(JSON.parse(bodyOf(length)) as object) }).answer;
      return { status, body };
    };
    // `ask` adds a word of its own: "stream":true.
    const more = ',"stream":true'.length;
    expect((await announce(MB - more)).status).toBe(200);
    expect((await upload(farm, [bodyOf(MB)])).status).toBe(200);
    expect(farm.worker.asked.map(({ body }) => body.length)).toEqual([MB, MB]);
    for (const { status, body } of [await announce(MB - more + 1), await upload(farm, [bodyOf(MB + 1)])]) {
      expect(status).toBe(413);
      expect(JSON.parse(body)).toMatchObject(TOO_LARGE);
    }
    expect(farm.worker.asked).toHaveLength(2);
  });

  it("that never ends is refused at the limit, and costs no memory beyond it", async () => {
    const farm = await startRawFarm(cleanup, "openai", { limits: { body: "1mb" } });
    const idle = memory(farm.pid, "VmHWM");
    const pieces = function* () {
      for (let i = 0; i < 4_000; i += 1) yield Buffer.alloc(64 * 1_024, 32);
    };
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(farm, pieces())));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(413));
    for (const { body } of answers) expect(JSON.parse(body)).toMatchObject(TOO_LARGE);
    const gained = (memory(farm.pid, "VmHWM") - idle) / MB;
    const taken = Math.max(...answers.map(({ sent }) => sent)) / MB;
    console.log(
      `8 uploads without an end, limit 1 MB: ${taken.toFixed(1)} MB taken at most, ${gained.toFixed(0)} MB gained`,
    );
    // Of 250 MB: what sockets hold until the caller has the answer.
    expect(taken).toBeLessThan(64);
    expect(gained).toBeLessThan(160);
  });
});

/** As 2,048 embeddings of 1,536 numbers, 30 MB. */
function embeddings(): Buffer {
  const numbers = Array.from({ length: 1_536 }, (_, i) => ((i * 2_654_435_761) % 1_000_003) / 1_000_003 - 0.5);
  const vector = numbers.map((number) => number.toFixed(6)).join(",");
  const data = Array.from({ length: 2_048 }, (_, index) => `{"index":${index},"embedding":[${vector}]}`).join(",");
  return Buffer.from(`{"object":"list","data":[${data}],"usage":{"prompt_tokens":2048,"total_tokens":2048}}`);
}

describe("an answer of 30 MB", () => {
  it("is passed on as it comes, whole, with its usage counted, and is never held", async () => {
    const farm = await startRawFarm(cleanup, "openai");
    const body = embeddings();
    const bytes = whole(body);
    const half = body.length / 2;
    let asked: Asked | null = null;
    farm.worker.answer = async ({ socket }) => {
      socket.write(bytes.subarray(0, half));
      // The head is before it.
      await until(() => (asked?.received().length ?? 0) > half - 1_024, "the caller has the first half");
      socket.write(bytes.subarray(half));
    };
    const idle = memory(farm.pid, "VmHWM");
    for (let i = 0; i < 3; i += 1) {
      asked = farm.ask("/v1/embeddings", { stream: false, input: ["x"] });
      const answer = await asked.answer;
      expect([answer.status, answer.complete, sha(answer.bytes)]).toEqual([200, true, sha(body)]);
    }
    const gained = (memory(farm.pid, "VmHWM") - idle) / MB;
    console.log(`answers of ${(body.length / MB).toFixed(0)} MB: ${gained.toFixed(0)} MB gained at most`);
    await until(async () => (await farm.metrics()).includes(`direction="prompt"} ${3 * 2_048}`), "usage is counted");
    expect(gained).toBeLessThan(160);
  });

  it("is held back at the worker by a caller who does not read", async () => {
    const farm = await startRawFarm(cleanup, "vllm");
    const piece = Buffer.from(`8000\r\n${"x".repeat(0x8000)}\r\n`);
    let sent = 0;
    farm.worker.answer = ({ socket }) => {
      socket.write(STREAM_HEAD);
      const push = () => {
        while (!socket.destroyed && sent < 1_024 * MB) {
          sent += piece.length;
          if (!socket.write(piece)) break;
        }
      };
      socket.on("drain", push);
      push();
    };
    const idle = memory(farm.pid, "VmRSS");
    const asked = request(`${farm.url}${CHAT}`, { method: "POST", agent: false });
    cleanup.add(asked, () => asked.destroy());
    asked.on("error", () => {});
    const answer = new Promise<IncomingMessage>((resolve) => void asked.on("response", resolve));
    asked.end('{"model":"m","stream":true}');
    await answer;
    let before = -1;
    let same = 0;
    await until(() => {
      same = sent === before ? same + 1 : 0;
      before = sent;
      return same > 40;
    }, "the worker is held back");
    const gained = (memory(farm.pid, "VmRSS") - idle) / MB;
    console.log(
      `a caller who does not read: ${(sent / MB).toFixed(1)} MB sent by the worker, ${gained.toFixed(0)} MB gained`,
    );
    expect(sent).toBeLessThan(48 * MB);
    expect(gained).toBeLessThan(64);
  });
});

describe("speech for a model that cannot speak", () => {
  it("is refused by what its engine can, and a worker's own word on it is passed on", async () => {
    const deaf = await startRawFarm(cleanup, "vllm");
    const none = await deaf.ask("/v1/audio/speech", { stream: false, input: "x" }).answer;
    expect([404, 501]).toContain(none.status);
    expect((JSON.parse(none.body) as { error: { message: string } }).error.message).toMatch(/speech/);
    expect(deaf.worker.asked).toHaveLength(0);
    const open = await startRawFarm(cleanup, "openai");
    const word = '{"error":{"message":"m has no voice","type":"invalid_request_error","param":"model","code":null}}';
    open.worker.answer = ({ socket }) => void socket.write(whole(word).toString().replace("200 OK", "400 Bad Request"));
    const told = await open.ask("/v1/audio/speech", { stream: false, input: "x" }).answer;
    expect([told.status, told.body]).toEqual([400, word]);
  });
});
