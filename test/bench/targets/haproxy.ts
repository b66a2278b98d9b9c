import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "../../harness/free-ports.ts";
import type { Children } from "../process/children.ts";
import { findProgram } from "./find-program.ts";
import { ready } from "./target.ts";
import type { Target } from "./target.ts";

function haproxyConfig(port: number, upstreamPort: number): string {
  return `
global
  nbthread 1
defaults
  mode http
  option http-no-delay
  http-reuse always
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend callers
  bind 127.0.0.1:${port}
  default_backend stub
backend stub
  server stub 127.0.0.1:${upstreamPort}
`;
}

/** Undefined where haproxy is not installed. */
export async function startHaproxy(children: Children, upstreamPort: number): Promise<Target | undefined> {
  const program = findProgram("haproxy");
  if (program === undefined) return undefined;
  const [port = 0] = await freePorts(1);
  const config = join(children.folder, "haproxy.cfg");
  writeFileSync(config, haproxyConfig(port, upstreamPort));
  // -db: one process in the foreground, whatever the configuration says.
  const child = children.spawn("haproxy", program, ["-db", "-q", "-f", config]);
  return ready(children, "haproxy", port, child);
}
