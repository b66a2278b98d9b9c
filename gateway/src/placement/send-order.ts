import { type EngineCall, readErrorReason } from "@farmgate/engines";
import { type Clock, HEADER, parseJson } from "@farmgate/shared";
import { z } from "zod";
import { type Upstream, type WholeAnswer, wholeAnswer } from "@farmgate/wire";

/** An order that is only accepted is answered at once; one that is answered when it is done takes as long as a load. */
const LIMIT_MS = { poll: 10_000, answer: 600_000 };
/** Of an answer no more is read. */
const MAX_BODY = 64 * 1_024;

const NO_ANSWER = { status: null, done: false, refused: false, outdated: false };
const STALE_STATUS = 409;
const stale = z.object({ error: z.object({ code: z.string() }) });

export interface OrderAnswer {
  /** null: the order was taken. */
  reason: string | null;
  /** null: no answer. */
  status: number | null;
  /** The model is loaded; false: taken only, or not even that. */
  done: boolean;
  /** Nothing listens there. */
  refused: boolean;
  /** It came too late: the worker has had orders of a later holder of the right to order. */
  outdated: boolean;
}

/** In whose name an order is sent; null: without a key, without a number. */
export interface OrderSender {
  apiKey: string | null;
  fence: number | null;
}

/**
 * Sends one order to load a model, by the first of the calls that the worker knows; each has an end. Never rejects;
 * `stop` ends it early.
 */
export async function sendOrder(
  upstream: Upstream,
  clock: Clock,
  sender: OrderSender,
  calls: readonly EngineCall[],
  stop: AbortSignal,
): Promise<OrderAnswer> {
  let answer: OrderAnswer = { reason: "it cannot be told to load it", ...NO_ANSWER };
  for (const call of calls) {
    answer = await sendCall(upstream, clock, sender, call, stop);
    if (answer.status !== 404 && answer.status !== 405) break;
  }
  return answer;
}

async function sendCall(
  upstream: Upstream,
  clock: Clock,
  { apiKey, fence }: OrderSender,
  call: EngineCall,
  stop: AbortSignal,
): Promise<OrderAnswer> {
  const headers = ["accept", "application/json", "content-type", "application/json"];
  if (apiKey !== null) headers.push("authorization", `Bearer ${apiKey}`);
  if (fence !== null) headers.push(HEADER.fence, String(fence));
  const body = Buffer.from(JSON.stringify(call.body));
  const path = upstream.prefix + call.path;
  const request = { origin: upstream.origin, method: "POST", path, headers, body };
  const limits = { ms: LIMIT_MS[call.done], bytes: MAX_BODY };
  const answer = await wholeAnswer(upstream.pool, clock, request, limits, stop);
  const { head, cut } = answer;
  const refused = cut !== null && typeof cut === "object" && cut.kind === "refused";
  if (head === null) return { ...NO_ANSWER, reason: silence(cut), refused };
  const text = answer.body.toString("utf8");
  const reason = judge(call, head.status, text);
  const outdated = head.status === STALE_STATUS && fence !== null && isStale(text);
  return { reason, status: head.status, done: reason === null && call.done === "answer", refused, outdated };
}

function isStale(body: string): boolean {
  const told = stale.safeParse(parseJson(body));
  return told.success && told.data.error.code === "stale_order";
}

function silence(cut: WholeAnswer["cut"]): string {
  if (cut === "slow") return "no answer in time";
  return cut !== null && typeof cut === "object" ? `no answer (${cut.message})` : "no answer";
}

function judge(call: EngineCall, status: number, body: string): string | null {
  if (status >= 200 && status < 300) return null;
  if (call.already?.status === status && call.already.text.test(body)) return null;
  const reason = readErrorReason(body);
  return `it answered ${status}${reason === "" ? "" : ` (${reason})`}`;
}
