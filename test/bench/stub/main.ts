// The engine behind every proxy of the bench: a process of its own on bare
// sockets, so that it stays cheap beside what is measured.
//
// The request says what is answered: `stream`, `max_tokens` (how many chunks)
// and `bench_interval_ms` (the time between two of them; 0: all at once). They
// have to stand in the first bytes of the body; what follows is only counted.
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import {
  health,
  models,
  notFound,
  shortAnswer,
  streamChunk,
  streamEnd,
  streamHead,
  transcript,
  version,
} from "./answers.ts";
import { RequestReader } from "./request-reader.ts";

const KEPT_OF_BODY = 256;

function numberIn(body: string, name: string): number {
  return Number(new RegExp(`"${name}":\\s*(\\d+)`).exec(body)?.[1] ?? 0);
}

function stream(socket: Socket, count: number, intervalMs: number): void {
  const first = Buffer.concat([streamHead, streamChunk]);
  if (intervalMs === 0) {
    socket.write(first);
    socket.write(Buffer.concat([...Array.from({ length: count - 1 }, () => streamChunk), streamEnd]));
    return;
  }
  socket.write(first);
  let left = count - 1;
  const timer = setInterval(() => {
    if (left-- > 0) {
      socket.write(streamChunk);
    } else {
      clearInterval(timer);
      socket.write(streamEnd);
    }
  }, intervalMs);
  socket.once("close", () => clearInterval(timer));
}

function answer(socket: Socket, requestLine: string, body: string): void {
  if (requestLine.startsWith("GET /v1/models ")) socket.write(models);
  else if (requestLine.startsWith("GET /health ")) socket.write(health);
  else if (requestLine.startsWith("GET /version ")) socket.write(version);
  else if (requestLine.startsWith("POST /v1/audio/transcriptions ")) socket.write(transcript);
  else if (!requestLine.startsWith("POST /v1/chat/completions ")) socket.write(notFound);
  else if (!/"stream":\s*true/.test(body)) socket.write(shortAnswer);
  else stream(socket, numberIn(body, "max_tokens"), numberIn(body, "bench_interval_ms"));
}

const server = createServer({ noDelay: true }, (socket) => {
  const reader = new RequestReader(KEPT_OF_BODY, (requestLine, body) => answer(socket, requestLine, body));
  socket.on("data", (bytes) => reader.push(bytes));
  socket.on("error", () => socket.destroy());
});

process.once("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", 4096, () => process.send?.({ port: (server.address() as AddressInfo).port }));
