// The processes of a run: the swap script, the agent and the gateway. Each is ended by its own pid.
import { execFile, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PATIENCE_MS = 15_000;

export const swapScript = fileURLToPath(new URL("./swap.sh", import.meta.url));

/** Below the ports that the system gives to outgoing connections, which could take one before its program does. */
const FIRST_PORT = 19_000;
const PORTS = 1_000;

/** Different ports on loopback that nobody listens on now. @param {number} count @returns {Promise<number[]>} */
export async function freePorts(count) {
  const start = Math.floor(Math.random() * PORTS);
  const ports = [];
  for (let tried = 0; ports.length < count && tried < PORTS; tried += 1) {
    const port = FIRST_PORT + ((start + tried) % PORTS);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

/** @param {number} port @returns {Promise<boolean>} */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** @param {NodeJS.ProcessEnv} env @param {string[]} args */
export async function swap(env, ...args) {
  const { stdout } = await promisify(execFile)(swapScript, args, { env, timeout: 20_000 });
  return stdout.trim();
}

/** @type {{ title: string, stop: () => Promise<number | string> }[]} the newest first */
const started = [];

/**
 * Starts `node ARGS`, its output in a file of the run's folder.
 * @param {string} title @param {string} folder @param {NodeJS.ProcessEnv} env @param {string[]} args
 */
export function startNode(title, folder, env, args) {
  const output = openSync(join(folder, `${title}.log`), "a");
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", output, output] });
  closeSync(output);
  /** @type {Promise<number | string>} */
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  async function stop() {
    child.kill("SIGTERM");
    const insist = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    const code = await ended;
    clearTimeout(insist);
    return code;
  }
  started.unshift({ title, stop });
  return { hasEnded: () => child.exitCode !== null || child.signalCode !== null };
}

/** Ends what was started, the newest first. Says each one's exit code, or the signal that ended it. */
export async function stopAll() {
  const exits = [];
  for (const { title, stop } of started.splice(0)) exits.push({ title, code: await stop() });
  return exits;
}

/** The lines of a file, none when there is no such file. @param {string} file @returns {string[]} */
export function lines(file) {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
