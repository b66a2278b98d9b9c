import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function gateway(answer: (response: ServerResponse, key: string | undefined) => void): Promise<string> {
  const listener = createServer((request, response) => answer(response, request.headers.authorization));
  server = listener;
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

const HEAD = '{"farmgate_trace":1}\n';
const LINE = '{"at":1,"model":"m","input":2,"output":3}\n';

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
}

describe("farmgate trace", () => {
  it("prints whole lines until the signal, counts them, and says what was lost", async () => {
    let signal = () => {};
    const url = await gateway((response, key) => {
      expect(key).toBe("Bearer k");
      begin(response);
      response.write(`${HEAD}${LINE.slice(0, 10)}`);
      response.write(`${LINE.slice(10)}\n{"lost":2}\n${LINE}{"at":5,`);
    });
    const io = fakeIo(["trace", "--gateway", url, "--key", "k"]);
    const write = (text: string) => {
      io.stdout.write(text);
      if (io.printed.stdout.split(LINE).length === 3) signal();
    };
    const onSignal = (fn: (name: "SIGINT") => void) => {
      signal = () => fn("SIGINT");
    };
    expect(await runProgram({ ...io, stdout: { ...io.stdout, write }, onSignal })).toBe(0);
    expect(io.printed.stdout).toBe(`${HEAD}${LINE}{"lost":2}\n${LINE}`);
    const told = "recording until Ctrl-C\n2 requests recorded, 2 more were lost since this was read too slowly\n";
    expect(io.printed.stderr).toBe(told);
  });

  it("ends by itself after the time that it was given", async () => {
    const url = await gateway((response) => {
      begin(response);
      response.write(HEAD);
    });
    const io = fakeIo(["trace", "--gateway", url, "--for", "200ms"]);
    expect(await runProgram(io)).toBe(0);
    expect(io.printed).toEqual({ stdout: HEAD, stderr: "recording for 200 ms\n0 requests recorded\n" });
  });

  it("says when the gateway stopped, or was no gateway, or wants another key", async () => {
    const stopped = await gateway((response) => {
      begin(response);
      response.end(`${HEAD}${LINE}`);
    });
    const first = fakeIo(["trace", "--gateway", stopped]);
    expect(await runProgram(first)).toBe(1);
    expect(first.printed.stderr).toMatch(/1 requests recorded\nfarmgate: the gateway has stopped\n$/);
    server?.close();

    const other = await gateway((response) => response.end("<html>"));
    const second = fakeIo(["trace", "--gateway", other]);
    expect(await runProgram(second)).toBe(1);
    expect(second.printed.stderr).toContain("/farm/trace answered 200 and no JSON: is that a Farmgate gateway?");
    server?.close();

    const strict = await gateway((response) =>
      response.writeHead(403).end('{"error":{"message":"Only an admin key."}}'),
    );
    const third = fakeIo(["trace", "--gateway", strict]);
    expect(await runProgram(third)).toBe(1);
    expect(third.printed.stderr).toContain("/farm/trace answered 403: Only an admin key.");
  });

  it("wants a duration that is one", async () => {
    const io = fakeIo(["trace", "--for", "soon"]);
    expect(await runProgram(io)).toBe(2);
    expect(io.printed.stderr).toContain("must be a duration, as 30s, 10m or 2h");
  });
});
