import { connect } from "node:net";
import { type Clock, type Random } from "@farmgate/shared";
import { type Asked, requestBody } from "../answers.ts";
import type { Seen } from "../verdict.ts";
import type { CallerFault } from "./caller-faults.ts";

/** One request of a caller that misbehaves. Never rejects. */
export function misbehave(url: string, asked: Asked, fault: CallerFault, random: Random, clock: Clock): Promise<Seen> {
  const { hostname, port } = new URL(url);
  const body = requestBody(asked);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: farm\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const pieces: Buffer[] = [];
    let length = 0;
    let wanted: { count: number; reached: () => void } | null = null;
    let hung = false;
    const stopTimer = clock.after(15_000, () => {
      hung = true;
      socket.destroy();
    });
    socket.on("data", (piece) => {
      pieces.push(piece);
      length += piece.length;
      if (wanted === null || length < wanted.count) return;
      const { reached } = wanted;
      wanted = null;
      reached();
    });
    socket.on("end", () => void socket.end());
    socket.on("error", () => {});
    socket.on("close", () => {
      stopTimer();
      resolve({ ...readAnswer(Buffer.concat(pieces)), left: fault.leaves, hung });
    });
    socket.on("connect", () => {
      fault.act(socket, Buffer.from(head + body), {
        random,
        atBytes: (count, reached) => (wanted = { count, reached }),
        after: (ms, then) => void clock.after(ms, then),
      });
    });
  });
}

/** An answer as its bytes came, with a length or in chunks. */
function readAnswer(bytes: Buffer): Pick<Seen, "status" | "body" | "complete"> {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return { status: 0, body: Buffer.alloc(0), complete: false };
  const head = bytes.toString("latin1", 0, end);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0);
  const rest = bytes.subarray(end + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return { status, body: rest, complete: rest.length === Number(length) };
  return { status, ...unchunk(rest) };
}

function unchunk(bytes: Buffer): { body: Buffer; complete: boolean } {
  const pieces: Buffer[] = [];
  for (let from = 0; ; ) {
    const line = bytes.indexOf("\r\n", from);
    const size = line < 0 ? Number.NaN : Number.parseInt(bytes.toString("latin1", from, line), 16);
    if (Number.isNaN(size) || size === 0) return { body: Buffer.concat(pieces), complete: size === 0 };
    pieces.push(bytes.subarray(line + 2, line + 2 + size));
    from = line + 2 + size + 2;
  }
}
