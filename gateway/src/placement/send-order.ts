import { type EngineCall, readErrorReason } from "@farmgate/engines";
import type { Clock } from "@farmgate/shared";
import { type Upstream, type WholeAnswer, wholeAnswer } from "@farmgate/wire";

/** An order that is only accepted is answered at once; one that is answered when it is done takes as long as a load. */
const LIMIT_MS = { poll: 10_000, answer: 600_000 };
/** Of an answer no more is read. */
const MAX_BODY = 64 * 1_024;

export interface OrderAnswer {
  /** null: the order was taken. */
  reason: string | null;
  /** null: no answer. */
  status: number | null;
  /** The model is loaded; false: taken only, or not even that. */
  done: boolean;
  /** Nothing listens there. */
  refused: boolean;
}

/**
 * Sends one order to load a model, by the first of the calls that the worker knows; each has an end. Never rejects;
 * `stop` ends it early.
 */
export async function sendOrder(
  upstream: Upstream,
  clock: Clock,
  apiKey: string | null,
  calls: readonly EngineCall[],
  stop: AbortSignal,
): Promise<OrderAnswer> {
  let answer: OrderAnswer = { reason: "it cannot be told to load it", status: null, done: false, refused: false };
  for (const call of calls) {
    answer = await sendCall(upstream, clock, apiKey, call, stop);
    if (answer.status !== 404 && answer.status !== 405) break;
  }
  return answer;
}

async function sendCall(
  upstream: Upstream,
  clock: Clock,
  apiKey: string | null,
  call: EngineCall,
  stop: AbortSignal,
): Promise<OrderAnswer> {
  const headers = ["accept", "application/json", "content-type", "application/json"];
  if (apiKey !== null) headers.push("authorization", `Bearer ${apiKey}`);
  const body = Buffer.from(JSON.stringify(call.body));
  const path = upstream.prefix + call.path;
  const request = { origin: upstream.origin, method: "POST", path, headers, body };
  const limits = { ms: LIMIT_MS[call.done], bytes: MAX_BODY };
  const answer = await wholeAnswer(upstream.pool, clock, request, limits, stop);
  const { head, cut } = answer;
  const refused = cut !== null && typeof cut === "object" && cut.kind === "refused";
  if (head === null) return { reason: silence(cut), status: null, done: false, refused };
  const reason = judge(call, head.status, answer.body.toString("utf8"));
  return { reason, status: head.status, done: reason === null && call.done === "answer", refused };
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
