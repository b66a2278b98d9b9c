import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

type Take = (socket: Socket) => void;

/** Whoever's request is about to be written. */
let next: Take | null = null;

/**
 * `take` gets the connection on which the client writes its next request, before it writes. Only for `onRequestStart`:
 * the client writes in the same breath, so that no other request can come between.
 */
export function withSocketOf(take: Take): void {
  next = take;
}

// undici tells nobody but its channel on which connection a request goes out.
subscribe("undici:client:sendHeaders", (message) => {
  const take = next;
  next = null;
  take?.((message as { socket: Socket }).socket);
});
