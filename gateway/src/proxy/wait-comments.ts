import { answerHeadersForCaller, isStreamed, requestIdHeaders, streamsEvents } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Call, Received } from "./call.ts";
import { commentDueAt, nextLookMs } from "./comment-due.ts";
import { isDryRun } from "./dry-run.ts";
import { waitOf } from "./waiting-facts.ts";
import { waitingText } from "./waiting-text.ts";

/**
 * Sends comments to the callers of streams who wait for their first byte. One timer looks at all requests under way,
 * and stands still while there are none: a request that is answered soon costs nothing of it.
 */
export class WaitComments {
  readonly #farm: () => Farm;
  #looks = false;

  constructor(farm: () => Farm) {
    this.#farm = farm;
  }

  /** A request has come, or the configuration was changed. */
  watch(): void {
    if (this.#looks) return;
    const { config, clock } = this.#farm();
    if (config.sseComments === 0) return;
    this.#looks = true;
    clock.after(nextLookMs(config.sseComments), () => {
      this.#looks = false;
      const farm = this.#farm();
      const calls = farm.live.all();
      for (const call of calls) commentIfDue(farm, call);
      if (calls.length > 0) this.watch();
    });
  }
}

/** Whether comments may be sent: another gateway in front sends its own, and takes ours for the worker's bytes. */
export function takesComments(call: Call, { scan, hops }: Received): boolean {
  return hops === 0 && streamsEvents(call.api) && isStreamed(call.api, scan.stream) && !isDryRun(call);
}

function commentIfDue(farm: Farm, call: Call): void {
  const now = farm.clock.now();
  const { sseComments, loadingStatus } = farm.config;
  const waitsForEvents = call.takesComments && call.tap.heldBytes === 0 && call.goneError === null;
  const lastSentAt = call.commentedAt ?? call.firstByteAt;
  const dueAt = commentDueAt({ waitsForEvents, arrivedAt: call.arrivedAt, lastSentAt }, sseComments);
  if (dueAt === null || now < dueAt || !isReading(call)) return;
  if (!call.response.headersSent) openStream(call);
  call.response.write(`: ${loadingStatus ? waitingText(waitOf(farm, call, now)) : "waiting"}\n\n`);
  call.commentedAt = now;
}

/** One who does not read gets no more: nothing may pile up for it. A later answer of a pipeline waits for its turn. */
function isReading({ response }: Call): boolean {
  return response.socket !== null && !response.destroyed && !response.writableEnded && !response.writableNeedDrain;
}

/** From here on the status is 200, whatever comes: errors are told inside the stream. */
function openStream(call: Call): void {
  call.opened = true;
  const headers = answerHeadersForCaller(["content-type", "text/event-stream"]);
  call.response.writeHead(200, [...headers, ...requestIdHeaders(call.family, call.id), ...call.ownHeaders]);
}
