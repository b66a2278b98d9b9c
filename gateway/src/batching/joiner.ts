import type { Farm } from "../farm.ts";
import type { Served } from "../proxy/accounts.ts";
import type { Call, Received } from "../proxy/call.ts";
import type { Size } from "./open-batches.ts";
import type { ReadInputs } from "./read-inputs.ts";

/** Serves a request by itself. May reject. */
export type ServeAlone = (farm: Farm, call: Call, received: Received) => Promise<Served>;

/** A request that waits for others like it, or is joined with them. */
export interface Joiner extends Size {
  call: Call;
  received: Received;
  read: ReadInputs;
  /** When it began to wait, on the clock of `now`. */
  joinedAt: number;
  serveAlone: ServeAlone;
  /** How the request ends; what comes after the first time is of no account. */
  end: (served: Served | Promise<Served>) => void;
  /** The same, for what was thrown. */
  fail: (thrown: unknown) => void;
}
