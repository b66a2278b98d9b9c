import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

let server: Server | undefined;
afterEach(() => server?.close());

const EMPTY = JSON.stringify({ workers: [], models: [], requests: [] });

async function gateway(port = 0): Promise<number> {
  const listener = createServer((_, response) => response.end(EMPTY));
  server = listener;
  await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
  return (listener.address() as AddressInfo).port;
}

async function gone(): Promise<void> {
  const listener = server;
  listener?.closeAllConnections();
  await new Promise((resolve) => listener?.close(resolve));
}

test("a watched gateway that goes and comes back is watched on, until the signal", async () => {
  const port = await gateway();
  const io = fakeIo(["status", "--watch", "--gateway", `http://127.0.0.1:${port}`]);
  const exits: number[] = [];
  let signal: () => void = () => undefined;
  let frames = 0;
  const program = runProgram({
    ...io,
    stdout: {
      ...io.stdout,
      write(text) {
        io.stdout.write(text);
        frames += 1;
        if (frames === 1) void gone();
        if (frames === 2) signal();
      },
      gone: () => exits.length > 0,
    },
    stderr: { ...io.stderr, write: (text) => void (io.stderr.write(text), server?.listening || gateway(port)) },
    onSignal: (fn) => {
      signal = () => fn("SIGINT");
    },
    exit: (code) => void exits.push(code),
  });
  expect(await program).toBe(0);
  expect(exits).toEqual([0]);
  expect(frames).toBe(2);
  expect(io.printed.stderr).toContain("no answer from a gateway");
});

test("a gateway that is not there at the start is no watch", async () => {
  const port = await gateway();
  await gone();
  const io = fakeIo(["status", "--watch", "--gateway", `http://127.0.0.1:${port}`]);
  expect(await runProgram(io)).toBe(1);
});
