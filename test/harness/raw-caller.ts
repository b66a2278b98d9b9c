import { connect } from "node:net";
import { inPieces } from "./damaged.ts";
import type { RawCaller } from "./nearly-http.ts";

/** No byte for so long, and a caller that waits has what it gets; in milliseconds. */
const QUIET_MS = 250;
/** More pieces than this are written as one. */
const MOST_PIECES = 60;

/** Plays one caller to its end; resolves with all that came back. */
export function play({ bytes, sizes, leaves }: RawCaller, port: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const got: Buffer[] = [];
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    socket.setTimeout(QUIET_MS, () => socket.destroy());
    socket.on("data", (data) => got.push(data));
    socket.on("end", () => socket.end());
    // A connection may be reset by a server that reads no further.
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(got)));
    socket.on("connect", () => void write());
    const write = async () => {
      const all = inPieces(bytes, sizes);
      for (const piece of [...all.slice(0, MOST_PIECES), Buffer.concat(all.slice(MOST_PIECES))]) {
        if (socket.destroyed) return;
        socket.write(piece);
        await new Promise(setImmediate);
      }
      if (leaves === "half") socket.end();
      if (leaves === "breaks") socket.destroy();
    };
  });
}
