import { type CatalogModel, spokenBy } from "@farmgate/engines";
import type { Api } from "@farmgate/shared";
import type { Aside, WorkerEntry } from "../catalog/types.ts";
import type { RoutingRequest } from "./types.ts";

/** One worker asked as one API, as a key of `RoutingRequest.spent`. */
export function wayKey(worker: string, api: Api): string {
  return `${api} ${worker}`;
}

/** In words, as what the worker can be asked with this model: for errors and explanations. */
export function spokenWords(entry: WorkerEntry, model: CatalogModel | undefined): string {
  if (model?.apis?.length === 0) return "it serves none of the APIs that there are here with it";
  if (model?.apis != null) return `it serves ${model.apis.join(", ")} with it`;
  return `${entry.engine ?? "a server that is not known further"} speaks ${[...spokenBy(entry.engine)].join(", ")}`;
}

/** Whether the worker speaks the API with this model: as the model itself tells, else as its engine does. */
export function speaks(entry: WorkerEntry, model: CatalogModel | undefined, api: Api): boolean {
  const told = model?.apis;
  return told == null ? spokenBy(entry.engine).has(api) : told.includes(api);
}

/** `RoutingRequest.spent` of a request for which every way is open: nearly all stay so. */
export const NONE_SPENT: ReadonlySet<string> = new Set();

/** Why there is no way. */
export type NoWay = "not spoken" | "aside";

/**
 * The first way in which the worker can be asked: one that it speaks, that is not set aside for this pair, and that led
 * nowhere in this request yet.
 */
export function wayTo(
  entry: WorkerEntry,
  model: CatalogModel | undefined,
  { key, ways, spent }: RoutingRequest,
  now: number,
): Api | NoWay {
  const aside = entry.asideUntil.size === 0 ? undefined : entry.asideUntil.get(key);
  let none: NoWay = "not spoken";
  for (const api of ways) {
    if (!speaks(entry, model, api)) continue;
    const isSpent = spent.size > 0 && spent.has(wayKey(entry.config.name, api));
    if (!isSpent && !isAside(aside, api, now)) return api;
    none = "aside";
  }
  return none;
}

export function isWay(way: Api | NoWay): way is Api {
  return way !== "not spoken" && way !== "aside";
}

/** As what a worker that is not out is asked. */
export function apiFor(entry: WorkerEntry, request: RoutingRequest, now: number): Api {
  const way = wayTo(entry, entry.byKey.get(request.key), request, now);
  return isWay(way) ? way : request.api;
}

function isAside(aside: Aside | undefined, api: Api, now: number): boolean {
  return aside !== undefined && aside.until > now && (aside.apis === undefined || aside.apis.includes(api));
}
