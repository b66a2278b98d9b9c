import { type ModelState, nameKey } from "@farmgate/shared";
import { z } from "zod";
import type { CatalogModel } from "./catalog.ts";
import { type Adapter, PLAIN } from "./adapter.ts";
import { LLAMA_SERVER_RULES } from "./llama-server.ts";
import { meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport, figure, maybeText, modelName, readAliases, readList } from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const element = z.object({
  id: modelName,
  context_length: figure,
  status: z.object({ value: maybeText }).nullish().catch(null),
  meta: z
    .object({ llamaswap: z.object({ type: maybeText, aliases: z.unknown().optional() }).nullish().catch(null) })
    .nullish()
    .catch(null),
});
const runningList = z.object({ running: z.unknown().optional() });
const process = z.object({ model: modelName, state: z.string() });
type Element = z.output<typeof element>;

/**
 * llama-swap: its list says "loaded" also while starting and stopping, so `/running` is what counts. Nothing but a
 * request loads a model; a call unloads one (by GET, on another path, it would unload all of them).
 */
export const llamaSwap: Adapter = {
  ...PLAIN,
  engine: "llama-swap",
  catalogPath: "/v1/models",
  extraPath: "/running",
  loadsOnRequest: true,
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const listed = readList(parsed.data.data, element);
    if (listed === null) return null;
    const running = readRunning(extra);
    return catalogReport(withoutAliasEntries(listed).map((model) => toModel(model, running)));
  },
  unload: ({ id, commands }) =>
    commands.includes("unload")
      ? [{ path: `/api/models/unload/${encodeURIComponent(id)}`, body: {}, done: "answer" }]
      : [],
  meaning: (answer) => meaningOf(answer, LLAMA_SERVER_RULES),
};

/** With `includeAliasesInList` an alias is listed a second time as if it were a model. */
function withoutAliasEntries(listed: readonly Element[]): Element[] {
  const aliases = new Set(
    listed.flatMap((model) => readAliases(model.meta?.llamaswap?.aliases, model.id)).map(nameKey),
  );
  return listed.filter((model) => model.meta?.llamaswap?.type !== "alias" || !aliases.has(nameKey(model.id)));
}

function readRunning(extra: unknown): ReadonlyMap<string, string> | null {
  const parsed = runningList.safeParse(extra);
  const processes = parsed.success && parsed.data.running !== undefined ? readList(parsed.data.running, process) : null;
  return processes === null ? null : new Map(processes.map((one) => [nameKey(one.model), one.state]));
}

function toModel(model: Element, running: ReadonlyMap<string, string> | null): CatalogModel {
  return catalogModel(model.id, stateOf(model, running), {
    aliases: readAliases(model.meta?.llamaswap?.aliases, model.id),
    contextLength: model.context_length ?? null,
    commands: isOwn(model) ? ["unload"] : [],
  });
}

/** A peer's, selector's or profile's model runs elsewhere or under another name. */
function isOwn(model: Element): boolean {
  return (model.meta?.llamaswap?.type ?? "model") === "model";
}

function stateOf(model: Element, running: ReadonlyMap<string, string> | null): ModelState {
  if (!isOwn(model)) return "unknown";
  if (running === null) return model.status?.value === "unloaded" ? "cold" : "unknown";
  switch (running.get(nameKey(model.id)) ?? "") {
    case "ready":
      return "warm";
    case "starting":
      return "loading";
    default:
      return "cold";
  }
}
