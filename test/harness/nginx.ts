import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../bench/targets/find-program.ts";
import type { Cleanup } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { until } from "./until.ts";

/** The path of nginx, or undefined where it is not installed. */
export const NGINX = findProgram("nginx");

/**
 * Before a gateway, set up as one would for streams, giving up on `readTimeout` of silence; or over a folder of files; or
 * what a file says that stands inside of `http`, by the port to listen on.
 */
type Site = { upstream: string; readTimeout: string } | { root: string } | { file: (port: number) => string };

/** A real nginx. */
export async function startNginx(cleanup: Cleanup, program: string, site: Site) {
  const [port = 0] = await freePorts(1);
  const folder = await cleanup.folder();
  const config = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  await writeFile(
    config,
    `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log error;
events { worker_connections 64; }
http {
  access_log off;
${temporary.map((kind) => `  ${kind}_temp_path ${folder}/${kind};`).join("\n")}
${"file" in site ? site.file(port) : serverOf(port, site)}
}
`,
  );
  const child = spawn(program, ["-p", folder, "-c", config, "-e", join(folder, "error.log")], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.on("close", resolve));
  cleanup.add(child, async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(await readFile(join(folder, "error.log"), "utf8"));
    const answer = await fetch(`${url}/livez`).catch(() => null);
    return answer !== null && ("root" in site || answer.ok);
  }, "nginx answers");
  return { url };
}

function serverOf(port: number, site: Exclude<Site, { file: unknown }>): string {
  return `  server {
    listen 127.0.0.1:${port};
${"root" in site ? `    root ${site.root};` : proxying(site)}
  }`;
}

function proxying({ upstream, readTimeout }: { upstream: string; readTimeout: string }): string {
  return `    location / {
      proxy_pass ${upstream};
      proxy_http_version 1.1;
      proxy_read_timeout ${readTimeout};
    }`;
}
