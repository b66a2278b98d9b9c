import { errorEvent, headerValue, isEventStream, isPacked } from "@farmgate/shared";
import type { Relay } from "@farmgate/wire";
import type { Call } from "./call.ts";
import { toldFault } from "./told-fault.ts";

const EVENT_START = Buffer.from("data: ");

/** Whether such an answer can be told inside a stream of events that was begun before it came. */
export function fitsOpenStream(status: number, rawHeaders: readonly string[]): boolean {
  if (status >= 300) return true;
  return !isPacked(rawHeaders) && (isEventStream(rawHeaders) || isJson(rawHeaders));
}

/**
 * A worker's answer behind comments, in a stream that has its head already.
 * (1) Events follow byte for byte. (2) A whole JSON answer, from a worker that does not stream, becomes one event, in
 * which line breaks (JSON has none inside its strings) are spaces; no `[DONE]` is invented behind it. (3) An error is
 * told as one event in the shape of the API by what it was judged by (`Attempt`), and the stream ends.
 */
export class OpenedAnswer {
  readonly #call: Call;
  readonly #relay: Relay;
  readonly #status: number;
  readonly #kind: "events" | "json" | "fault";
  readonly #readable: boolean;
  readonly #fault: Buffer[] = [];

  constructor(call: Call, relay: Relay, status: number, rawHeaders: readonly string[]) {
    this.#call = call;
    this.#relay = relay;
    this.#status = status;
    this.#readable = !isPacked(rawHeaders);
    this.#kind = status >= 300 ? "fault" : isEventStream(rawHeaders) ? "events" : "json";
    relay.join();
    if (this.#kind === "json") relay.write(EVENT_START);
  }

  write(chunk: Buffer): boolean {
    switch (this.#kind) {
      case "events":
        return this.#relay.write(chunk); // (1)
      case "json":
        return this.#relay.write(withoutLineBreaks(chunk)); // (2)
      case "fault":
        this.#fault.push(chunk);
        return true;
    }
  }

  /** What is still to be said when the answer has ended. */
  last(): string {
    if (this.#kind === "events") return "";
    if (this.#kind === "json") return "\n\n";
    const body = this.#readable ? Buffer.concat(this.#fault).toString("utf8") : "";
    return errorEvent(this.#call.family, toldFault(this.#call.family, this.#status, body, this.#call.id), true); // (3)
  }
}

function isJson(rawHeaders: readonly string[]): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(headerValue(rawHeaders, "content-type") ?? "");
}

/** A copy: the bytes are still the client's. */
function withoutLineBreaks(chunk: Buffer): Buffer {
  return Buffer.from(chunk.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)));
}
