import { FarmError } from "@farmgate/shared";
import { z } from "zod";
import type { LiveRequests } from "../proxy/live-requests.ts";
import type { Hub } from "./hub.ts";

/** So long the others are waited for, in milliseconds. */
export const ASK_MS = 500;

/** One entry of `/farm/requests` of another gateway, as far as this one reads it. */
const request = z.looseObject({ id: z.string(), caller: z.string() });
export type RequestElsewhere = z.output<typeof request>;

/** What `/farm/requests` tells of those under way at the other gateways, each with its gateway's id. */
export async function requestsElsewhere(hub: Pick<Hub, "ask">): Promise<(RequestElsewhere & { gateway: string })[]> {
  const answers = await hub.ask({ kind: "requests" }, ASK_MS);
  return [...answers].flatMap(([gateway, answer]) => {
    if (!Array.isArray(answer)) return [];
    return answer.flatMap((value: unknown) => {
      const read = request.safeParse(value);
      return read.success ? [{ ...read.data, gateway }] : [];
    });
  });
}

/** Ends a request under way here; `by`: the key whose own it must be, null: none. Whether there was one. */
export function cancelHere(live: Pick<LiveRequests, "get">, id: string, by: string | null): boolean {
  const request = live.get(id);
  if (request === undefined || (by !== null && request.callerName !== by)) return false;
  request.cancel(new FarmError("cancelled", "The request was cancelled by an operator."));
  return true;
}

/** Ends a request wherever else it is under way, by the same rule. Whether it was. */
export async function cancelElsewhere(hub: Pick<Hub, "ask">, id: string, by: string | null): Promise<boolean> {
  const answers = await hub.ask({ kind: "cancel", id, by }, ASK_MS);
  return [...answers.values()].includes(true);
}
