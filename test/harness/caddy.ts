import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../bench/targets/find-program.ts";
import type { Cleanup } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { until } from "./until.ts";

/** The path of Caddy, or undefined where it is not installed. */
export const CADDY = findProgram("caddy");

/** A real Caddy with this Caddyfile, without its administration's port. */
export async function startCaddy(cleanup: Cleanup, program: string, text: string, gateways: readonly string[]) {
  const [port = 0] = await freePorts(1);
  const folder = await cleanup.folder();
  const file = join(folder, "Caddyfile");
  await writeFile(file, text.replace(/^\{$/m, "{\n\tadmin off"));
  const env = {
    HOME: folder,
    FARMGATE_SITE: `:${port}`,
    FARMGATE_GATEWAYS: gateways.map((url) => new URL(url).host).join(" "),
  };
  const child = spawn(program, ["run", "--adapter", "caddyfile", "--config", file], { env, stdio: "pipe" });
  let output = "";
  child.stderr.on("data", (data: Buffer) => (output += data.toString()));
  const ended = new Promise((resolve) => child.on("close", resolve));
  cleanup.add(child, async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(output);
    return (await fetch(`${url}/livez`).catch(() => null))?.ok === true;
  }, "Caddy answers");
  return { url };
}
