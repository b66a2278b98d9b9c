import type { Socket } from "node:net";

/** A request as it came over a connection. */
export interface Arrived {
  method: string;
  path: string;
  body: string;
}

/** Reads the requests of one connection, each once it is whole; for those with a content-length alone. */
export function onRequests(socket: Socket, take: (request: Arrived) => void): void {
  let held: Buffer = Buffer.alloc(0);
  socket.on("data", (data) => {
    held = Buffer.concat([held, data]);
    for (;;) {
      const end = held.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = held.toString("latin1", 0, end);
      const [, method = "", path = ""] = /^(\S+) (\S+)/.exec(head) ?? [];
      const from = end + 4;
      const to = from + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (held.length < to) return;
      const body = held.toString("utf8", from, to);
      held = held.subarray(to);
      take({ method, path, body });
    }
  });
}
