import type { EngineCall } from "@farmgate/engines";
import { readErrorReason } from "@farmgate/engines";
import type { Clock } from "@farmgate/shared";
import { Exchange, GatheredBytes, type Upstream } from "@farmgate/wire";

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

function sendCall(
  upstream: Upstream,
  clock: Clock,
  apiKey: string | null,
  call: EngineCall,
  stop: AbortSignal,
): Promise<OrderAnswer> {
  const limitMs = LIMIT_MS[call.done];
  const headers = ["accept", "application/json", "content-type", "application/json"];
  if (apiKey !== null) headers.push("authorization", `Bearer ${apiKey}`);
  const body = Buffer.from(JSON.stringify(call.body));
  return new Promise((resolve) => {
    const answer = new GatheredBytes();
    let status: number | null = null;
    const exchange = new Exchange(
      upstream.pool,
      { origin: upstream.origin, method: "POST", path: upstream.prefix + call.path, headers, body },
      { firstByteMs: limitMs, idleMs: limitMs },
      clock,
      {
        head(answered) {
          status = answered;
        },
        data(chunk) {
          answer.add(chunk);
          if (answer.length > MAX_BODY) exchange.cancel();
          return true;
        },
        end(outcome) {
          stopTimer();
          stop.removeEventListener("abort", cancel);
          const refused = !outcome.ok && outcome.failure.kind === "refused";
          const silence = outcome.ok ? "no answer" : `no answer (${outcome.failure.message})`;
          const reason = status === null ? silence : judge(call, status, answer.bytes().toString("utf8"));
          resolve({ reason, status, done: reason === null && call.done === "answer", refused });
        },
      },
    );
    const cancel = () => exchange.cancel();
    // The exchange watches the silences; an answer that trickles needs an end as well.
    const stopTimer = clock.after(limitMs, cancel);
    stop.addEventListener("abort", cancel);
  });
}

function judge(call: EngineCall, status: number, body: string): string | null {
  if (status >= 200 && status < 300) return null;
  if (call.already?.status === status && call.already.text.test(body)) return null;
  const reason = readErrorReason(body);
  return `it answered ${status}${reason === "" ? "" : ` (${reason})`}`;
}
