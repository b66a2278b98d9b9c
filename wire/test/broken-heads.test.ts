import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSystemClock, createUpstream, Exchange, type ExchangeOutcome } from "../src/index.ts";

const clock = createSystemClock();
const pem = (name: string) => readFileSync(new URL(`../../test/fixtures/tls/${name}`, import.meta.url), "utf8");
const GOOD = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** What an upstream does with each request of a connection, the first of it first. */
type Does = (socket: Socket) => void;

const good: Does = (socket) => void socket.write(GOOD);
/** Sends so much, and ends the connection once that has been read. */
const ends =
  (by: "reset" | "fin", sent: string): Does =>
  (socket) => {
    const end = () => void (by === "fin" ? socket.end() : socket.resetAndDestroy());
    if (sent === "") end();
    else socket.write(sent, () => void clock.after(20, end));
  };

async function upstream(tls: boolean, does: readonly Does[]) {
  const serve = (socket: Socket) => {
    const left = [...does];
    socket.on("error", () => {}).on("data", () => left.shift()?.(socket));
    onTestFinished(() => void socket.destroy());
  };
  const pair = { cert: pem("server.pem"), key: pem("server.key.pem") };
  const server: Server = tls ? createTlsServer(pair, serve) : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `${tls ? "https" : "http"}://127.0.0.1:${port}`;
  const pool = createUpstream(origin, { connectMs: 2_000, ca: tls ? pem("authority.pem") : null });
  onTestFinished(async () => {
    await pool.destroy();
    server.close();
  });
  return async (): Promise<ExchangeOutcome> => {
    const outcome = await new Promise<ExchangeOutcome>((resolve) => {
      const request = { origin, method: "POST", path: "/", headers: [], body: Buffer.from("{}") };
      const sink = { head: () => {}, data: () => true, end: resolve };
      void new Exchange(pool, request, { firstByteMs: 5_000, idleMs: 5_000 }, clock, sink);
    });
    await new Promise((resolve) => setImmediate(resolve));
    return outcome;
  };
}

describe.each([
  ["plain", false],
  ["encrypted", true],
])("a connection (%s) that breaks before an answer", (_, tls) => {
  // A reset of an encrypted connection may overtake what was sent.
  describe.each(tls ? (["fin"] as const) : (["reset", "fin"] as const))("by a %s", (by) => {
    it("may have met the request by its idle end when it had carried an answer, and nothing of this one came", async () => {
      const ask = await upstream(tls, [good, good, ends(by, "")]);
      expect([await ask(), await ask()]).toEqual([{ ok: true }, { ok: true }]);
      const outcome = await ask();
      expect(outcome).toMatchObject({ ok: false, failure: { phase: "first_byte", kind: "reset", reused: true } });
      expect(outcome).not.toHaveProperty("failure.begun");
    });

    it("was no idle one when it had carried no answer", async () => {
      const ask = await upstream(tls, [ends(by, "")]);
      const outcome = await ask();
      expect(outcome).toMatchObject({ ok: false, failure: { phase: "first_byte", kind: "reset", reused: false } });
      expect(outcome).not.toHaveProperty("failure.begun");
    });

    it.each([
      ["new", "a byte", "H"],
      ["new", "half a head", "HTTP/1.1 200 OK\r\ncontent-"],
      ["used", "a byte", "H"],
      ["used", "half a head", "HTTP/1.1 200 OK\r\ncontent-"],
      ["used", "a sign of life", "HTTP/1.1 102 Processing\r\n\r\n"],
    ])("was no idle one: %s, after %s", async (state, _what, sent) => {
      const ask = await upstream(tls, state === "used" ? [good, ends(by, sent)] : [ends(by, sent)]);
      if (state === "used") await ask();
      const failure = { phase: "first_byte", kind: "reset", reused: false, begun: true };
      expect(await ask()).toMatchObject({ ok: false, failure });
    });
  });
});
