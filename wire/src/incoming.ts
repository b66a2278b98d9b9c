import { IncomingMessage } from "node:http";

/**
 * A request that asks for another protocol is taken for an upgrade only where that is a WebSocket. Others ask too: some
 * clients offer `h2c` with each of their requests, and want it answered in plain HTTP/1.1.
 */
export class Incoming extends IncomingMessage {
  declare asksUpgrade: boolean;

  // Node sets it before it knows the headers, and reads it after.
  set upgrade(asked: boolean) {
    this.asksUpgrade = asked;
  }

  get upgrade(): boolean {
    return this.asksUpgrade && this.method === "GET" && this.headers.upgrade?.toLowerCase() === "websocket";
  }
}
