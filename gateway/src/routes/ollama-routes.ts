import { FarmError, parseJson } from "@farmgate/shared";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Farm } from "../farm.ts";
import { modelListSource } from "./model-list-source.ts";
import { ollamaRunning, ollamaShow, ollamaTags } from "./ollama-models.ts";

/**
 * The Ollama release whose API the farm speaks. Clients refuse to work with an older one than they need (0.6.4 mostly),
 * and use by it what came later: thinking, tool calls in streams, capabilities in `/api/tags`.
 */
const OLLAMA_VERSION = "0.33.0";

/** The farm for Ollama's clients, whatever engines it has. What asks a model goes through `forward` like all inference. */
export function ollamaRoutes(app: FastifyInstance, farm: Farm): void {
  const sourceFor = modelListSource(farm);
  app.get("/api/version", () => ({ version: OLLAMA_VERSION }));
  app.get("/api/tags", async (request) => {
    if (!farm.isReady) await farm.ready;
    return ollamaTags(sourceFor(request));
  });
  app.get("/api/ps", async (request) => {
    if (!farm.isReady) await farm.ready;
    return ollamaRunning(sourceFor(request));
  });
  app.post<{ Body: string | undefined }>("/api/show", async (request) => {
    if (!farm.isReady) await farm.ready;
    return ollamaShow(askedModel(request.body), sourceFor(request));
  });
  for (const [method, url, what] of ELSEWHERE) {
    app.route({
      method,
      url,
      // Before a body is read: it may be gigabytes.
      onRequest: async () => {
        throw elsewhere(farm, what);
      },
      handler: () => ({}),
    });
  }
}

/** What changes a worker's disk. */
const ELSEWHERE = [
  ["POST", "/api/pull", "pull models"],
  ["POST", "/api/push", "push models"],
  ["POST", "/api/create", "create models"],
  ["POST", "/api/copy", "copy models"],
  ["DELETE", "/api/delete", "delete models"],
  ["POST", "/api/blobs/:digest", "take files"],
  ["HEAD", "/api/blobs/:digest", "keep files"],
] as const;

function elsewhere(farm: Farm, what: string): FarmError {
  const { workers } = farm.catalog.current;
  const quoted = (names: readonly { config: { name: string } }[]) =>
    names.map((one) => `"${one.config.name}"`).join(", ");
  const own = workers.filter(({ engine }) => engine === "ollama");
  const where =
    own.length > 0
      ? `Workers that run Ollama: ${quoted(own)}.`
      : `No worker runs Ollama. Workers: ${workers.length === 0 ? "none" : quoted(workers)}.`;
  return new FarmError(
    "not_supported",
    `Farmgate does not ${what}: do it on the worker itself, at its own address, and the farm lists what it has. ${where}`,
  );
}

const question = z.union([
  z.object({ model: z.string().min(1) }).transform(({ model }) => model),
  z.object({ name: z.string().min(1) }).transform(({ name }) => name),
]);

function askedModel(body: string | undefined): string {
  const parsed = question.safeParse(parseJson(body ?? ""));
  if (parsed.success) return parsed.data;
  throw new FarmError("invalid_request", 'Expected a JSON object such as {"model":"qwen3-8b"}.', { param: "model" });
}
