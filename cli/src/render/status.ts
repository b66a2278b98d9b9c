import { formatDuration } from "@farmgate/shared";
import { z } from "zod";
import { CommandError } from "../exit-code.ts";
import { count } from "./count.ts";
import { shownText } from "./shown-text.ts";
import { table } from "./table.ts";
import { variantSchema, variantWords } from "./variant.ts";

const workerSchema = z.object({
  name: shownText,
  engine: shownText,
  state: shownText,
  catalog: shownText,
  inflight: z.number(),
  problem: shownText.nullish(),
  models: z.array(z.object({ id: shownText, state: shownText, queued: z.number().nullish() })),
});
const modelSchema = z.object({
  id: shownText,
  kind: shownText,
  context_length: z.number().nullish(),
  states: z.array(z.object({ worker: shownText, state: shownText })),
  note: shownText.nullish(),
  variants: z.array(variantSchema.extend({ id: shownText })).nullish(),
  /** Workers that are known not to have it. */
  lacking: z.array(shownText).nullish(),
});
const requestSchema = z.object({
  id: shownText,
  api: shownText,
  model: shownText,
  worker: shownText.nullable(),
  phase: shownText,
  caller: shownText,
  age_ms: z.number(),
  queue: z.object({ position: z.number(), waited_ms: z.number(), bound_ms: z.number().nullable() }).nullish(),
});
const togetherSchema = z.object({ members: z.number(), trouble: shownText.nullable() });
const statusSchema = z.object({
  workers: z.object({ workers: z.array(workerSchema), together: togetherSchema.nullish() }),
  models: z.object({ models: z.array(modelSchema) }).transform((answer) => answer.models),
  requests: z.object({ requests: z.array(requestSchema) }).transform((answer) => answer.requests),
});

/** The live state of a farm. */
export type FarmStatus = z.output<typeof statusSchema>;

/** The gateway's answers to `/farm/workers`, `/farm/models` and `/farm/requests`. Throws a CommandError for others. */
export function readStatus(answers: { workers: unknown; models: unknown; requests: unknown }): FarmStatus {
  const parsed = statusSchema.safeParse(answers);
  if (parsed.success) return parsed.data;
  throw new CommandError("the gateway's state cannot be read: is it of another version?");
}

/** The whole state as text, for a terminal of `width` columns. */
export function renderStatus(url: string, status: FarmStatus, width: number): string {
  const { models, requests } = status;
  const { workers, together } = status.workers;
  const counts = [count(workers, "worker"), count(models, "model"), `${count(requests, "request")} under way`];
  const lines = [
    `Farmgate at ${url}: ${counts.join(", ")}`,
    ...togetherLine(together),
    "",
    ...workerLines(workers, width),
  ];
  if (models.length > 0) lines.push("", ...modelLines(models, width));
  if (requests.length > 0) lines.push("", ...requestLines(requests, width));
  return `${lines.join("\n")}\n`;
}

/** How it stands with gateways that act as one; nothing of one that is alone. */
function togetherLine(together: FarmStatus["workers"]["together"]): string[] {
  if (!together) return [];
  const { members, trouble } = together;
  if (trouble === null)
    return [members === 1 ? "The only gateway so far" : `One of ${members} gateways that act as one`];
  return [`! It cannot hear the other gateways, and decides by what it sees: ${trouble}`];
}

function workerLines(workers: FarmStatus["workers"]["workers"], width: number): string[] {
  const rows = workers.map((worker) => [
    worker.name,
    worker.state,
    worker.catalog,
    worker.engine,
    String(worker.inflight),
    queued(worker.models),
    worker.models.flatMap(({ id, state }) => (state === "warm" ? [id] : [])).join(", ") || "-",
  ]);
  const problems = workers.flatMap(({ name, problem }) => (problem ? [`${name}: ${problem}`] : []));
  return [
    ...table(["WORKER", "STATE", "CATALOG", "ENGINE", "INFLIGHT", "QUEUED", "WARM"], rows, width),
    ...problems.map((problem) => `! ${problem}`),
  ];
}

/** Requests that wait in the worker's own queue; `-` where it does not tell. */
function queued(models: FarmStatus["workers"]["workers"][number]["models"]): string {
  const told = models.flatMap((model) => (typeof model.queued === "number" ? [model.queued] : []));
  return told.length === 0 ? "-" : String(told.reduce((sum, waiting) => sum + waiting, 0));
}

function modelLines(models: FarmStatus["models"], width: number): string[] {
  const rows = models.map((model) => [
    model.id,
    model.kind,
    model.context_length ? String(model.context_length) : "-",
    whereabouts(model),
  ]);
  const notes = models.flatMap(({ id, note, variants }) => {
    const copies = variants?.map((variant) => `${variant.id} (${variantWords(variant)})`).join(", ");
    return [...(note ? [`! ${id}: ${note}`] : []), ...(copies ? [`! ${id}: its copies differ: ${copies}`] : [])];
  });
  return [...table(["MODEL", "KIND", "CONTEXT", "WHERE"], rows, width), ...notes];
}

/**
 * `warm on a, b; cold on c; not on d`: what matters most comes first, since a narrow terminal cuts the end off. Who lacks
 * a model is told of those that several workers have: what one alone has is seldom meant for all.
 */
function whereabouts({ states, lacking }: FarmStatus["models"][number]): string {
  const ranks = ["warm", "loading"];
  const rank = (state: string) => (ranks.includes(state) ? ranks.indexOf(state) : ranks.length);
  const kinds = [...new Set(states.map(({ state }) => state))].toSorted((a, b) => rank(a) - rank(b));
  const workersIn = (kind: string) => states.flatMap(({ worker, state }) => (state === kind ? [worker] : []));
  const there = kinds.map((kind) => `${kind} on ${workersIn(kind).join(", ")}`);
  if (states.length > 1 && lacking?.length) there.push(`not on ${lacking.join(", ")}`);
  return there.join("; ") || "-";
}

function requestLines(requests: FarmStatus["requests"], width: number): string[] {
  const rows = requests.map((request) => [
    request.id,
    request.model,
    request.api,
    request.worker ?? "-",
    request.phase,
    formatDuration(request.age_ms),
    request.caller || "-",
  ]);
  const waits = requests.flatMap((request) => waitLine(request));
  return [...table(["REQUEST", "MODEL", "API", "WORKER", "PHASE", "AGE", "CALLER"], rows, width), ...waits];
}

/** What a request in an agent's queue is told of its wait. */
function waitLine({ id, worker, queue }: FarmStatus["requests"][number]): string[] {
  if (!queue) return [];
  const atMost = queue.bound_ms === null ? "" : `, at most ${formatDuration(queue.bound_ms)} more`;
  return [`${id} waits ${formatDuration(queue.waited_ms)} at ${worker ?? "-"}, place ${queue.position}${atMost}`];
}
