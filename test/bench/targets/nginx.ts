import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "../../harness/free-ports.ts";
import type { Children } from "../process/children.ts";
import { findProgram } from "./find-program.ts";
import { ready } from "./target.ts";
import type { Target } from "./target.ts";

/** nginx as one would set it up before a model server: no buffering, kept connections. */
function nginxConfig(folder: string, port: number, upstreamPort: number, processes: number): string {
  return `
daemon off;
worker_processes ${processes};
pid ${folder}/nginx.pid;
error_log ${folder}/error.log error;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_max_body_size 0;
  client_body_buffer_size 1m;
  keepalive_requests 1000000000;
  upstream stub {
    server 127.0.0.1:${upstreamPort};
    keepalive 512;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://stub;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;
}

/** Undefined where nginx is not installed. */
export async function startNginx(
  children: Children,
  upstreamPort: number,
  processes: number = 1,
): Promise<Target | undefined> {
  const program = findProgram("nginx");
  if (program === undefined) return undefined;
  const [port = 0] = await freePorts(1);
  const folder = join(children.folder, `nginx-${port}`);
  mkdirSync(folder);
  const config = join(folder, "nginx.conf");
  writeFileSync(config, nginxConfig(folder, port, upstreamPort, processes));
  const child = children.spawn("nginx", program, ["-p", folder, "-c", config, "-e", join(folder, "start.log")]);
  return ready(children, "nginx", port, child);
}
