import { request, type IncomingHttpHeaders } from "node:http";
import { createSystemClock } from "@farmgate/wire";
import { onTestFinished } from "vitest";
import { type EngineDeps, engineOptionsSchema, type RunningEngine, startEngine } from "../../src/index.ts";

/** An engine on a free port that is at once with everything unless told otherwise; closed when the test ends. */
export async function engineWith(options: object = {}, deps: Partial<EngineDeps> = {}): Promise<RunningEngine> {
  const fast = { models: ["a", "b", "c"], load: 0, promptTokensPerSecond: 0, tokensPerSecond: 0, listen: { port: 0 } };
  const parsed = engineOptionsSchema.parse({ ...fast, ...options });
  const engine = await startEngine(parsed, { clock: createSystemClock(), ...deps });
  onTestFinished(() => engine.close());
  return engine;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** How the answer ended: null as it should, else the error's code. */
  broken: string | null;
}

export interface Asked {
  answer: Promise<Answer>;
  /** Resolves with the first bytes of the body. */
  firstBytes: Promise<string>;
  /** Bytes of body so far. */
  received(): number;
  pause(): void;
  resume(): void;
  /** Hangs up. */
  leave(): void;
}

/** One request on a connection of its own, which can be watched, held up and left. */
export function ask(engine: RunningEngine, method: string, path: string, body?: unknown, headers: object = {}): Asked {
  const payload = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const sent = request(engine.url + path, { method, agent: false, headers: { ...headers } });
  let text = "";
  let gotFirst: (bytes: string) => void = () => {};
  const firstBytes = new Promise<string>((resolve) => (gotFirst = resolve));
  const control = { pause: () => {}, resume: () => {} };
  const answer = new Promise<Answer>((resolve) => {
    let status = 0;
    let received: IncomingHttpHeaders = {};
    const done = (broken: string | null) => resolve({ status, headers: received, body: text, broken });
    sent.on("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    sent.on("response", (response) => {
      status = response.statusCode ?? 0;
      received = response.headers;
      control.pause = () => response.pause();
      control.resume = () => response.resume();
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        gotFirst(chunk);
      });
      response.on("end", () => done(null));
      response.on("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    });
  });
  sent.end(payload);
  return {
    answer,
    firstBytes,
    received: () => Buffer.byteLength(text),
    pause: () => control.pause(),
    resume: () => control.resume(),
    leave: () => sent.destroy(),
  };
}

export const get = (engine: RunningEngine, path: string) => ask(engine, "GET", path).answer;

export const post = (engine: RunningEngine, path: string, body: unknown) => ask(engine, "POST", path, body).answer;

export function chat(engine: RunningEngine, body: object = {}): Asked {
  const messages = [{ role: "user", content: "Once upon a time" }];
  return ask(engine, "POST", "/v1/chat/completions", { model: "a", messages, max_tokens: 8, ...body });
}

/** The parsed `data:` events of a stream, `[DONE]` as it is. */
export function eventsOf(body: string): unknown[] {
  const lines = body.split("\n").filter((line) => line.startsWith("data: "));
  return lines.map((line) => (line === "data: [DONE]" ? "[DONE]" : JSON.parse(line.slice(6))));
}
