import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findProgram } from "../../../../test/bench/targets/find-program.ts";
import { freePorts } from "../../../../test/harness/free-ports.ts";
import { until } from "../../support/until.ts";

/** The path of redis-server or valkey-server, or undefined where neither is installed. */
export const REDIS_SERVER = findProgram("redis-server") ?? findProgram("valkey-server");
export const INSTALL_REDIS = "redis-server is not there: its tests skip. To run them: apt-get install redis-server";

/** A real server on a port of its own, which keeps nothing. */
export class RedisServer {
  readonly port: number;
  readonly url: string;
  readonly #folder: string;
  readonly #more: readonly string[];
  readonly #password: string;
  #child: ChildProcess | null = null;
  #control: Redis | null = null;

  private constructor(port: number, folder: string, more: readonly string[]) {
    this.port = port;
    this.url = `redis://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#more = more;
    this.#password = more.includes("--requirepass") ? (more[more.indexOf("--requirepass") + 1] ?? "") : "";
  }

  static async start(...more: string[]): Promise<RedisServer> {
    const [port = 0] = await freePorts(1);
    const server = new RedisServer(port, await mkdtemp(join(tmpdir(), "farmgate-redis-")), more);
    await server.restart();
    return server;
  }

  /** Sends it a command. */
  async ask(command: string, ...args: string[]): Promise<unknown> {
    this.#control ??= new Redis({
      port: this.port,
      host: "127.0.0.1",
      password: this.#password,
      retryStrategy: () => 20,
    }).on("error", () => {});
    return this.#control.call(command, ...args);
  }

  async restart(): Promise<void> {
    const base = ["--port", String(this.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    const args = [...base, "--dir", this.#folder, "--loglevel", "warning", ...this.#more];
    this.#child = spawn(REDIS_SERVER ?? "", args, { stdio: "ignore" });
    await until("redis-server answers", async () => (await this.ask("PING").catch(() => null)) === "PONG");
  }

  /** SIGSTOP, SIGCONT, or SIGKILL, whose end is waited for. */
  async signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(name);
    if (name === "SIGKILL") await ended;
  }

  async end(): Promise<void> {
    this.#control?.disconnect();
    await this.signal("SIGKILL");
    await rm(this.#folder, { recursive: true, force: true });
  }
}
