import type { EngineCall } from "@farmgate/engines";
import { readErrorReason } from "@farmgate/engines";
import type { Clock } from "@farmgate/shared";
import { Exchange, GatheredBytes, type Upstream } from "@farmgate/wire";

/** An order that is only accepted is answered at once; one that is answered when it is done takes as long as a load. */
const LIMIT_MS = { poll: 10_000, answer: 600_000 };
/** Of an answer no more is read. */
const MAX_BODY = 64 * 1_024;

/** `reason` is null when the order was taken. */
export interface OrderAnswer {
  reason: string | null;
  /** Nothing listens there. */
  refused: boolean;
}

/** Sends one order to load a model, with an end to everything. Never rejects; `stop` ends it early. */
export function sendOrder(
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
          if (status !== null) resolve({ reason: judge(call, status, answer.bytes().toString("utf8")), refused });
          else resolve({ reason: outcome.ok ? "no answer" : `no answer (${outcome.failure.message})`, refused });
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
