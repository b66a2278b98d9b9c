import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { FarmError } from "@farmgate/shared";
import { expect, it, onTestFinished } from "vitest";
import { answerError } from "../src/answer-error.ts";
import { readBody } from "../src/read-body.ts";

const LIMIT = 1_000;

/** A connection to a server that takes bodies up to 1,000 bytes. */
async function connected(): Promise<Socket> {
  const server = createServer((request, response) => {
    readBody(request, LIMIT).then(
      () => response.end("taken"),
      (error: FarmError) => answerError(response, error, { family: "openai", requestId: "r" }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  return socket;
}

const head = "POST / HTTP/1.1\r\nhost: x\r\n";

it.each([
  ["announces too much and then stalls", `${head}content-length: 5000\r\n\r\nabc`],
  ["waits to be told to go on", `${head}content-length: 5000\r\nexpect: 100-continue\r\n\r\n`],
  ["has sent too much and then stalls", `${head}transfer-encoding: chunked\r\n\r\n5dc\r\n${"x".repeat(1_400)}`],
])("an upload that %s is told 413, and its connection ends", async (_what, bytes) => {
  const socket = await connected();
  const closed = once(socket, "close");
  let text = "";
  socket.on("data", (piece) => (text += String(piece)));
  socket.on("error", () => {});
  socket.write(bytes);
  await closed;
  expect(text).toMatch(/HTTP\/1\.1 413 [^]*connection: close[^]*"code":"body_too_large"/);
});

it("an upload that goes on is told 413 in the end, and not cut before", async () => {
  const socket = await connected();
  const told = once(socket, "data");
  socket.write(`${head}content-length: 20000000\r\n\r\n`);
  for (let sent = 0; sent < 20_000_000; sent += 1_000_000) {
    if (!socket.write(Buffer.alloc(1_000_000))) await once(socket, "drain");
  }
  expect(String((await told)[0])).toMatch(/^HTTP\/1\.1 413 /);
  await once(socket, "close");
});
