#!/usr/bin/env node
import { closeSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { createSystemClock } from "@farmgate/wire";
import type { Io, Output } from "./io.ts";
import { runProgram } from "./program.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

function output(stream: NodeJS.WriteStream): Output {
  let gone = false;
  // A reader that has seen enough (`| head`) closes the pipe, and a terminal may be closed: no failures of ours.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
    gone = true;
  });
  return {
    write: (text) => void (gone || stream.write(text)),
    columns: () => (stream.isTTY ? stream.columns : null),
    gone: () => gone,
  };
}

// At its end Node sets terminals back to how it found them, and breaks over one that is gone by then.
const terminals = [0, 1, 2].filter((fd) => isatty(fd));
process.on("exit", () => {
  for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
});

const io: Io = {
  argv: process.argv.slice(2),
  env: process.env,
  stdout: output(process.stdout),
  stderr: output(process.stderr),
  stdin: () => text(process.stdin),
  clock: createSystemClock(),
  random: Math.random,
  version,
  demoFile: fileURLToPath(new URL("../demo/farm.yaml", import.meta.url)),
  memory: () => process.memoryUsage.rss(),
  self: [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)],
  onTerminal: process.stdin.isTTY,
  onSignal(fn) {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => fn(signal));
  },
  exit: (code) => process.exit(code),
  whenParentLeaves(fn) {
    if (process.connected) process.once("disconnect", fn);
  },
};

process.exitCode = await runProgram(io);
