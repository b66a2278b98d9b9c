import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { createServer, type Server } from "node:https";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import { cleanup } from "./support/cleanup.ts";
import { chat, configOf, errorOf, runGateway } from "./support/gateway.ts";
import { until } from "./support/until.ts";

const pem = (name: string) => readFileSync(new URL(`../../test/fixtures/tls/${name}`, import.meta.url), "utf8");
const AUTHORITY = pem("authority.pem");

const serve: RequestListener = (request, response) => {
  response.setHeader("content-type", "application/json");
  if (request.method === "GET") response.end(JSON.stringify({ data: [{ id: "m", owned_by: "vllm" }] }));
  else request.on("end", () => response.end(JSON.stringify({ id: "x", choices: [] }))).resume();
};

async function port(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A worker by HTTPS with one of the fixtures' certificates. */
async function worker(certificate: string, host = "127.0.0.1"): Promise<string> {
  const server = createServer({ cert: pem(`${certificate}.pem`), key: pem(`${certificate}.key.pem`) }, serve);
  server.on("upgrade", (_request, socket) => {
    socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  });
  return `https://${host}:${await port(server)}`;
}

async function farm(url: string, more: Record<string, unknown> = {}, config: Record<string, unknown> = {}) {
  const gateway = await runGateway({ workers: [{ name: "w", url, engine: "vllm", ...more }], ...config });
  const look = async () => {
    const { workers } = (await (await fetch(`${gateway.url}/farm/workers`)).json()) as {
      workers: { state: string; problem: string | null }[];
    };
    return workers[0] ?? { state: "", problem: null };
  };
  return { gateway, look };
}

async function refusal(url: string, more: Record<string, unknown> = {}): Promise<{ problem: string; told: string }> {
  const { gateway, look } = await farm(url, more, { health: { interval: "50ms", timeout: "1s", unhealthyAfter: 100 } });
  await until("the worker is so", async () => (await look()).problem !== null);
  const { status, message } = await errorOf(await chat(gateway));
  expect(status).toBe(502);
  return { problem: (await look()).problem ?? "", told: message };
}

/** What comes back on a request for a WebSocket, as its bytes came. */
async function askSocket(gatewayUrl: string): Promise<string> {
  const socket = connect(Number(new URL(gatewayUrl).port), "127.0.0.1");
  socket.write("GET /v1/realtime?model=m HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  let got = "";
  for await (const piece of socket) got += String(piece);
  return got;
}

describe("a gateway by HTTPS", () => {
  const pair = { cert: pem("server.pem"), key: pem("server.key.pem") };

  it("answers, and opens WebSockets", async () => {
    const workers = [{ name: "w", url: await worker("server"), engine: "vllm", ca: AUTHORITY }];
    const gateway = await runGateway({ workers }, { tls: pair });
    expect(gateway.url).toMatch(/^https:/);
    const ask = async (target: string, headers: string) => {
      const socket = connectTls({ port: gateway.port, host: "127.0.0.1", ca: AUTHORITY });
      socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);
      let got = "";
      for await (const piece of socket) got += String(piece);
      return got;
    };
    await until("it lists", async () => (await ask("/v1/models", "connection: close")).includes('"id":"m"'));
    const opened = await ask("/v1/realtime?model=m", "connection: upgrade\r\nupgrade: websocket");
    expect(opened).toMatch(/^HTTP\/1.1 101 /);
  });

  it("says that another name of a file waits for a restart, and goes on as it was started", async () => {
    const gateway = await runGateway({ tls: { cert: "a", key: "b" } }, { tls: pair });
    const told = gateway.reload(configOf({ tls: { cert: "c", key: "b" } }));
    expect(told).toEqual({ applied: false, restartNeeded: ["tls"] });
    expect(gateway.reload(configOf({}))).toEqual({ applied: false, restartNeeded: ["tls"] });
    expect(gateway.reload(configOf({ tls: { cert: "a", key: "b" } }))).toEqual({ applied: false, restartNeeded: [] });
  });
});

describe("a worker by HTTPS", () => {
  it("is polled and asked under its own authority", async () => {
    const { gateway, look } = await farm(await worker("server"), { ca: AUTHORITY });
    await until("the worker is so", async () => (await look()).state === "healthy");
    expect((await chat(gateway)).status).toBe(200);
  });

  it("may be trusted by its very certificate, be that signed by itself or by another", async () => {
    for (const name of ["self-signed", "server"]) {
      const { gateway, look } = await farm(await worker(name), { ca: pem(`${name}.pem`) });
      await until("the worker is so", async () => (await look()).state === "healthy");
      expect((await chat(gateway)).status).toBe(200);
    }
  });

  it.each([
    [
      "signed by itself",
      "self-signed",
      {},
      /signed by itself \(DEPTH_ZERO_SELF_SIGNED_CERT\): set `ca` to a file with it/,
    ],
    [
      "signed by nobody known",
      "server",
      {},
      /nobody here trusts who signed its certificate \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\): set `ca`/,
    ],
    ["of another than `ca`", "server", { ca: pem("self-signed.pem") }, /nobody here trusts who signed/],
    [
      "for another name",
      "elsewhere",
      { ca: AUTHORITY },
      /other names than the one in its URL \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
    ],
    ["expired", "expired", { ca: AUTHORITY }, /has expired \(CERT_HAS_EXPIRED\)/],
  ] as const)(
    "is refused with a certificate that is %s, and its owner and the caller are told why",
    async (_what, name, more, words) => {
      const { problem, told } = await refusal(await worker(name), more);
      expect(problem).toMatch(words);
      expect(told).toMatch(words);
      // What the certificate says of itself is the peer's own.
      expect(problem + told).not.toContain("elsewhere.example");
    },
  );

  it("is told to speak plain HTTP, if it does", async () => {
    const plain = createHttpServer(serve);
    const { problem, told } = await refusal(`https://127.0.0.1:${await port(plain)}`);
    expect(problem).toMatch(/does not answer in TLS: is its URL an http:\/\/ one\?/);
    expect(told).toMatch(/does not answer in TLS/);
  });

  it("is given up within the connect time-out when it accepts and never encrypts", async () => {
    const silent = createTcpServer((socket) => socket.on("error", () => {}));
    const { gateway } = await farm(
      `https://127.0.0.1:${await port(silent)}`,
      { ca: AUTHORITY },
      { timeouts: { connect: "300ms" } },
    );
    const error = await errorOf(await chat(gateway));
    expect(error).toMatchObject({ status: 504, code: "timeout_connect" });
  });

  it("is reached anew after a reload that changes whom it is trusted by", async () => {
    const url = await worker("server");
    const { gateway, look } = await farm(url);
    await until("the worker is so", async () => /nobody here trusts/.test((await look()).problem ?? ""));
    gateway.reload(configOf({ workers: [{ name: "w", url, engine: "vllm", ca: AUTHORITY }] }));
    await until("the worker is so", async () => (await look()).state === "healthy");
    expect((await chat(gateway)).status).toBe(200);
    gateway.reload(configOf({ workers: [{ name: "w", url, engine: "vllm" }] }));
    await until("the worker is so", async () => (await look()).state !== "healthy");
    expect((await chat(gateway)).status).toBeGreaterThanOrEqual(502);
  });

  it("answers WebSockets under its own authority, and without that none is opened", async () => {
    const url = await worker("server");
    const trusted = await farm(url, { ca: AUTHORITY });
    await until("the worker is so", async () => (await trusted.look()).state === "healthy");
    expect(await askSocket(trusted.gateway.url)).toMatch(/^HTTP\/1.1 101 /);
    const other = await farm(url, {}, { health: { interval: "50ms", timeout: "1s", unhealthyAfter: 100 } });
    await until("the worker is so", async () => (await other.look()).problem !== null);
    expect(await askSocket(other.gateway.url)).toMatch(/^HTTP\/1.1 502 [^]*nobody here trusts who signed/);
  });
});
