import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { refuseNonsense } from "../src/refuse-nonsense.ts";

/** A connection to a server of its own, which keeps its half open. */
async function connected(handler: RequestListener): Promise<Socket> {
  const server = createServer(handler).on("clientError", refuseNonsense);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  onTestFinished(async () => {
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return socket;
}

/** All that a server says to these bytes. */
async function answerTo(bytes: string): Promise<string> {
  const socket = await connected(() => {});
  socket.write(bytes);
  let text = "";
  socket.on("data", (piece) => (text += String(piece)));
  await once(socket, "end");
  return text;
}

const head = "POST / HTTP/1.1\r\nhost: x\r\n";

it.each([
  ["bytes that are no HTTP", "\u0016\u0003\u0001 hello\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["two lengths", `${head}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, /^HTTP\/1\.1 400 /],
  ["a length beside chunks", `${head}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, / 400 /],
  ["a chunk without a size", `${head}transfer-encoding: chunked\r\n\r\nzz\r\nab\r\n`, / 400 /],
  ["a folded header", `${head}x-a: b\r\n c\r\n\r\n`, / 400 /],
  ["a megabyte of headers", `${head}x-a: ${"a".repeat(1_000_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
])("%s is refused with an error that a client can read, and the connection ends", async (_what, bytes, expected) => {
  const text = await answerTo(bytes);
  expect(text).toMatch(expected);
  const body: unknown = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
  expect(body).toMatchObject({ error: { code: "invalid_request", type: "invalid_request_error" } });
});

it("what follows a request whose answer has begun cuts that answer and adds nothing to it", async () => {
  const socket = await connected((_request, response) => response.write("begun"));
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  let text = String((await once(socket, "data"))[0]);
  socket.on("data", (piece) => (text += String(piece)));
  socket.write(" nonsense\r\n\r\n");
  await once(socket, "end");
  expect(text).toContain("begun");
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
});
