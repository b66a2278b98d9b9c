import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createSystemClock, type Log } from "@farmgate/wire";
import { engineOptionsSchema, type RunningEngine, startEngine } from "@farmgate/simulator";
import { onTestFinished } from "vitest";
import { OllamaLike, type OllamaOptions } from "../../../test/harness/ollama-like.ts";
import { AttachedHolder } from "../../src/attached/attached-holder.ts";
import { agentConfigSchema } from "../../src/index.ts";
import { ModelBook, type ServedModel } from "../../src/served-model.ts";
import { EngineAsker } from "../../src/swap/ask-engine.ts";

const clock = createSystemClock();
export const never = new AbortController().signal;

export interface AttachedRig {
  holder: AttachedHolder;
  book: ModelBook;
  /** What the holder told by itself: "found a", "lost a: reason", "models URL: a b". */
  news: string[];
  /** The log's lines of these levels. */
  warnings: string[];
  infos: string[];
  model: (name: string) => ServedModel;
  names: () => string[];
  /** How often this was told. */
  count: (start: string) => number;
}

/** A holder with this configuration, started; its engines are looked at every 20 ms unless they say otherwise. */
export async function attach(
  engines: readonly object[],
  more: { models?: readonly object[]; swap?: object; asks?: boolean } = {},
): Promise<AttachedRig> {
  const config = agentConfigSchema.parse({
    swap: { command: "x", unload: true, ...more.swap },
    models: more.models ?? [],
    engines: engines.map((engine) => ({ poll: "20ms", ...engine })),
  });
  const news: string[] = [];
  const warnings: string[] = [];
  const infos: string[] = [];
  const book = new ModelBook(config);
  const asker = new EngineAsker(clock);
  const line = (lines: string[]) => (_fields: object, text: string) => lines.push(text);
  const holder = new AttachedHolder(config, book.models, {
    asker,
    clock,
    log: { info: line(infos), warn: line(warnings) } as unknown as Log,
    news: {
      onModels(url, models) {
        book.replaceEngine(url, models);
        news.push(`models ${url}: ${models.map(({ name }) => name).join(" ")}`);
      },
      onFound: (model) => news.push(`found ${model}`),
      onLost: (model, reason) => news.push(`lost ${model}: ${reason}`),
    },
  });
  onTestFinished(async () => {
    await holder.close();
    await asker.close();
  });
  await holder.start();
  if (more.asks !== false) await holder.found(book.models);
  return {
    holder,
    book,
    news,
    warnings,
    infos,
    model(name) {
      const model = book.find(name);
      if (model === undefined) throw new Error(`${name} is not listed`);
      return model;
    },
    names: () => book.models.map(({ name }) => name),
    count: (start) => news.filter((text) => text.startsWith(start)).length,
  };
}

export async function startOllama(options: OllamaOptions): Promise<OllamaLike> {
  const ollama = await new OllamaLike(options).open();
  onTestFinished(() => ollama.die());
  return ollama;
}

/** A llama-server as a router over these models. */
export async function startRouter(options: object): Promise<RunningEngine> {
  const engine = await startEngine(
    engineOptionsSchema.parse({
      listen: { port: 0 },
      load: "30ms",
      promptTokensPerSecond: 0,
      tokensPerSecond: 0,
      ...options,
    }),
    { clock },
  );
  onTestFinished(() => engine.close());
  return engine;
}

export interface SeenCall {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server that answers as the test says; null: not at all. */
export async function startServer(
  answer: (call: SeenCall, response: ServerResponse) => unknown,
): Promise<{ url: string; calls: SeenCall[]; close: () => Promise<void> }> {
  const calls: SeenCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const call = { method, path: url, headers, body: String(Buffer.concat(chunks)) };
      calls.push(call);
      void Promise.resolve(answer(call, response)).then((body) => {
        if (body !== undefined) response.end(typeof body === "string" ? body : JSON.stringify(body));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, close };
}
