import { connect } from "node:net";
import { beforeAll, afterAll, describe, expect, it } from "vitest";
import { type FakeWorker, fakeWorker } from "../support/fake-worker.ts";
import { agents, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const BODY = '{"model":"m"}';
const CHAT = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n";
const GOOD = `${CHAT}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const CHUNKED = `${CHAT}Transfer-Encoding: chunked\r\n`;

/** Requests that two programs could read in two ways, or that are none; a good one follows each on its connection. */
const SHAPES: Readonly<Record<string, string>> = {
  "a length and chunks": `${CHAT}Content-Length: 13\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  "chunks and a length": `${CHUNKED}Content-Length: 13\r\n\r\nd\r\n${BODY}\r\n0\r\n\r\n`,
  "two lengths": `${CHAT}Content-Length: 13\r\nContent-Length: 14\r\n\r\n${BODY}`,
  "two equal lengths": `${CHAT}Content-Length: 13\r\nContent-Length: 13\r\n\r\n${BODY}`,
  "a list of lengths": `${CHAT}Content-Length: 13, 13\r\n\r\n${BODY}`,
  "a negative length": `${CHAT}Content-Length: -13\r\n\r\n${BODY}`,
  "a length with a sign": `${CHAT}Content-Length: +13\r\n\r\n${BODY}`,
  "a length in hex": `${CHAT}Content-Length: 0xd\r\n\r\n${BODY}`,
  "a length beyond all numbers": `${CHAT}Content-Length: 99999999999999999999\r\n\r\n${BODY}`,
  "an empty length": `${CHAT}Content-Length: \r\n\r\n${BODY}`,
  "a length with a blank inside": `${CHAT}Content-Length: 1 3\r\n\r\n${BODY}`,
  "a coding that does not end in chunked": `${CHAT}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  "a coding before chunked": `${CHAT}Transfer-Encoding: gzip, chunked\r\n\r\nd\r\n${BODY}\r\n0\r\n\r\n`,
  "chunked twice": `${CHAT}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  "two codings": `${CHUNKED}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
  "an unknown coding": `${CHAT}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  "the coding identity": `${CHAT}Transfer-Encoding: identity\r\n\r\n${BODY}`,
  "chunks in HTTP/1.0": `POST /v1/chat/completions HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n${BODY}\r\n0\r\n\r\n`,
  "a folded header": `${CHAT}X-A: a\r\n b\r\nContent-Length: 13\r\n\r\n${BODY}`,
  "a folded coding": `${CHAT}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`,
  "bare line feeds": `POST /v1/chat/completions HTTP/1.1\nHost: x\nContent-Length: 13\n\n${BODY}`,
  "a bare line feed behind a header": `${CHAT}X-A: a\nContent-Length: 13\r\n\r\n${BODY}`,
  "a bare carriage return in a header": `${CHAT}X-A: a\rContent-Length: 1\r\nContent-Length: 13\r\n\r\n${BODY}`,
  "a blank before the colon": `${CHAT}Content-Length : 13\r\n\r\n${BODY}`,
  "a blank in a name": `${CHAT}Content Length: 13\r\n\r\n${BODY}`,
  "a blank before the first header": `POST /v1/chat/completions HTTP/1.1\r\n Host: x\r\n\r\n`,
  "a NUL in a value": `${CHAT}X-A: a\0b\r\nContent-Length: 13\r\n\r\n${BODY}`,
  "a NUL in a name": `${CHAT}X\0A: a\r\nContent-Length: 13\r\n\r\n${BODY}`,
  "a control character in a value": `${CHAT}X-A: a\u0001b\r\nContent-Length: 13\r\n\r\n${BODY}`,
  "a chunk larger than numbers": `${CHUNKED}\r\n1000000000000000d\r\n${BODY}\r\n0\r\n\r\n`,
  "a chunk of negative size": `${CHUNKED}\r\n-1\r\n${BODY}\r\n0\r\n\r\n`,
  "a chunk's size with 0x": `${CHUNKED}\r\n0xd\r\n${BODY}\r\n0\r\n\r\n`,
  "a chunk longer than it says": `${CHUNKED}\r\nc\r\n${BODY}\r\n0\r\n\r\n`,
  "chunks with bare line feeds": `${CHUNKED}\r\nd\n${BODY}\n0\n\n`,
  "a line feed in a chunk's extension": `${CHUNKED}\r\nd;a\nb\r\n${BODY}\r\n0\r\n\r\n`,
  "a length in the trailer": `${CHUNKED}\r\nd\r\n${BODY}\r\n0\r\nContent-Length: 5\r\n\r\n`,
  "no host": "GET / HTTP/1.1\r\n\r\n",
  "two hosts": "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
  "two equal hosts": `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nhost: x\r\nContent-Length: 13\r\n\r\n${BODY}`,
  CONNECT: "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n",
  TRACE: "TRACE / HTTP/1.1\r\nHost: x\r\nCookie: a=b\r\n\r\n",
  "HTTP/0.9": "GET /\r\n",
  "HTTP/0.9 with its version": "GET / HTTP/0.9\r\nHost: x\r\n\r\n",
  "HTTP/2.0 in words": "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
  "an unknown version": "GET / HTTP/1.2\r\nHost: x\r\n\r\n",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "a blank in the target": "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
  "a control character in the target": "GET /a\u0001b HTTP/1.1\r\nHost: x\r\n\r\n",
  "a target without a slash": "GET livez HTTP/1.1\r\nHost: x\r\n\r\n",
  "another protocol": "\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n",
};

/** What comes on a connection until the gateway closes it. */
function say(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let heard = "";
    socket.on("data", (piece) => (heard += piece.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => resolve(heard));
    socket.write(bytes, "latin1");
  });
}

describe("the gateway's door", () => {
  let worker: FakeWorker;
  let port: number;

  // One for all of them, and each of them must leave it as it was.
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    worker = await fakeWorker({ m: "warm" }, undefined, (end) => ends.push(end));
    ({ port } = await runGateway({ workers: agents({ a: worker }) }, { atEnd: (end) => ends.push(end) }));
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  it.each(Object.entries(SHAPES))(
    "refuses %s with 400 and takes nothing more on that connection",
    async (_what, bytes) => {
      const before = worker.asked.length;
      const heard = await say(port, bytes + GOOD + GOOD);
      expect(heard).toMatch(/^HTTP\/1\.1 400 /);
      expect(heard.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
      expect(heard).toMatch(/\r\nconnection: close\r\n/i);
      expect(heard).toContain('"code":"invalid_request"');
      expect(worker.asked.length).toBe(before);
    },
  );

  it("answers what came before it, and nothing behind it", async () => {
    const before = worker.asked.length;
    const heard = await say(port, `${GOOD}GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${GOOD}`);
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
    expect(worker.asked.length).toBe(before + 1);
  });

  it("frames a body anew for a worker, whatever chunks it came in, and passes no trailer on", async () => {
    const before = worker.asked.length;
    const chunks = `6;ext=1\r\n${BODY.slice(0, 6)}\r\n7\r\n${BODY.slice(6)}\r\n0\r\nX-Farmgate-Caller: root\r\n\r\n`;
    const heard = say(
      port,
      `${CHUNKED}Connection: close, X-Secret\r\nX-Secret: s\r\nTrailer: X-Farmgate-Caller\r\n\r\n${chunks}`,
    );
    await until("it is asked", () => worker.asked.length > before);
    const { headers, body } = worker.request(before);
    expect(body).toBe(BODY);
    expect(headers).toMatchObject({ "content-length": "13" });
    for (const name of ["transfer-encoding", "trailer", "x-secret", "x-farmgate-caller"]) {
      expect(headers).not.toHaveProperty(name);
    }
    expect(await heard).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("takes a target with another host in front as what it is for here, and asks the worker by the worker's own", async () => {
    const before = worker.asked.length;
    const target = "http://other.example/v1/chat/completions";
    const heard = await say(
      port,
      `POST ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 13\r\n\r\n${BODY}`,
    );
    expect(heard).toMatch(/^HTTP\/1\.1 200 /);
    expect(worker.request(before)).toMatchObject({
      path: "/v1/chat/completions",
      headers: { host: `127.0.0.1:${worker.port}` },
    });
  });
});
