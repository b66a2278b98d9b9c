import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { callGateway } from "../src/gateway-call.ts";

let server: Server | undefined;
afterEach(() => server?.close());

async function answering(status: number, body: string): Promise<{ url: string; key: string }> {
  server = createServer((request, response) =>
    response.writeHead(status).end(body.replace("KEY", String(request.headers.authorization))),
  );
  const listener = server;
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, key: "k" };
}

test("the key goes along and the JSON comes back", async () => {
  expect(await callGateway(await answering(200, '{"seen":"KEY"}'), "/farm/workers")).toEqual({ seen: "Bearer k" });
});

test("a gateway that is not there is told with its address", async () => {
  const gateway = await answering(200, "");
  await new Promise((resolve) => server?.close(resolve));
  await expect(callGateway(gateway, "/farm/workers")).rejects.toThrow(
    `no answer from a gateway at ${gateway.url}: nothing listens`,
  );
});

test("a wanted key is told with the ways to give it", async () => {
  const refused = '{"error":{"message":"This farm asks for a key."}}';
  const gateway = await answering(401, refused);
  await expect(callGateway({ ...gateway, key: null }, "/x")).rejects.toThrow(/wants a key: give one with --key or in/);
  await expect(callGateway(gateway, "/x")).rejects.toThrow(/does not know this key: give one with --key or in/);
});

test("another server's page is told as such", async () => {
  await expect(callGateway(await answering(200, "<html>"), "/x")).rejects.toThrow(/is that a Farmgate gateway/);
});

test("a server that has no such path is no gateway", async () => {
  const other = '{"error":{"message":"File Not Found"}}';
  await expect(callGateway(await answering(404, other), "/x")).rejects.toThrow(/404: is that a Farmgate gateway/);
});

test("the gateway's own error message is passed on", async () => {
  await expect(callGateway(await answering(403, '{"error":{"message":"Not for you."}}'), "/x")).rejects.toThrow(
    "Not for you.",
  );
});
