import { type ChildProcess, spawn } from "node:child_process";
import { connect, type Socket } from "node:net";

/** Listens with the shortest backlog, and then stops for good: nobody accepts any more. */
const PROGRAM = `
const server = require("node:net").createServer();
server.listen({ port: Number(process.argv[1]), host: "127.0.0.1", backlog: 1 }, () => {
  process.stdout.write("listening", () => process.kill(process.pid, "SIGSTOP"));
});`;
/** A connection that is not there after this many milliseconds has met a full backlog. */
const PATIENCE_MS = 300;

/** A port whose backlog is full: a connection to it hangs. */
export class Blackhole {
  readonly #child: ChildProcess;
  readonly #fillers: Socket[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async at(port: number): Promise<Blackhole> {
    const child = spawn(process.execPath, ["-e", PROGRAM, String(port)], { stdio: ["ignore", "pipe", "ignore"] });
    const hole = new Blackhole(child);
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once("data", () => resolve());
      child.once("exit", () => reject(new Error(`port ${port} could not be had`)));
    });
    while (await hole.#fills(port));
    return hole;
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
    for (const socket of this.#fillers) socket.destroy();
  }

  /** Whether one more connection came about. */
  #fills(port: number): Promise<boolean> {
    const socket = connect(port, "127.0.0.1");
    this.#fillers.push(socket);
    socket.on("error", () => {});
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), PATIENCE_MS);
      socket.once("connect", () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }
}
