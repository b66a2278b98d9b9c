import { copyFile, cp, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "node:tls";
import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cleanup, type FarmgateProcess, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { until } from "../harness/until.ts";
import { farmFile } from "./farm-file.ts";
import { start, told } from "./cli-process.ts";

const FIXTURES = fileURLToPath(new URL("../fixtures/tls/", import.meta.url));
const AUTHORITY = join(FIXTURES, "authority.pem");
const TLS = "tls: { cert: shown.pem, key: shown.key.pem }";

const cleanup = new Cleanup();
let folder = "";
let url = "";
let agentUrl = "";
let up: FarmgateProcess;
let trusting: Agent;

/** Puts these certificates where the farm's file names them, as a renewal does: one file, then the other. */
async function show(name: string): Promise<void> {
  for (const [from, to] of [
    [`${name}.pem`, "shown.pem"],
    [`${name}.key.pem`, "shown.key.pem"],
  ] as const) {
    await copyFile(join(folder, from), join(folder, "new"));
    await rename(join(folder, "new"), join(folder, to));
  }
}

/** Whose certificate is shown at an address, by a connection of its own. */
async function shownAt(address: string): Promise<string> {
  let name = "";
  const ca = await readFile(AUTHORITY, "utf8");
  const { hostname, port } = new URL(address);
  await new Promise<void>((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), ca }, () => {
      name = String(socket.getPeerCertificate().subject.CN);
      socket.destroy();
      resolve();
    });
  });
  return name;
}

async function command(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = runFarmgate(args, { env });
  const code = await program.ended;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

beforeAll(async () => {
  const [gateway = 0, gpu = 0, mac = 0, gpuEngine = 0, macEngine = 0] = await freePorts(5);
  folder = await cleanup.folder();
  await cp(FIXTURES, folder, { recursive: true });
  await show("server");
  const ports = { gateway, agents: [gpu, mac], engines: [gpuEngine, macEngine] } as const;
  const text = farmFile(ports, `  ${TLS}`).replace("  - name: mac\n", `  - name: mac\n    ${TLS}\n`);
  await writeFile(join(folder, "farm.yaml"), text);
  up = start(cleanup, ["up", "--config", join(folder, "farm.yaml")]);
  url = `https://127.0.0.1:${gateway}`;
  agentUrl = `https://127.0.0.1:${mac}`;
  trusting = cleanup.add(new Agent({ connect: { ca: await readFile(AUTHORITY, "utf8") } }), (agent) => agent.close());
  await told(up, "Farmgate is up");
}, 60_000);

afterAll(() => cleanup.run());

describe("a farm whose gateway and agent speak HTTPS", () => {
  test("comes up and tells its address and the names of its certificate", () => {
    expect(up.stdout()).toContain(`Farmgate is up: ${url}`);
    expect(up.stdout()).toMatch(/Its certificate is for DNS:localhost, IP Address:127\.0\.0\.1/);
    expect(up.output()).not.toContain("NOT UP");
  });

  /** A chat with the agent's model; the worker that served it. */
  async function askMac(): Promise<unknown> {
    const answer = await request(`${url}/v1/chat/completions`, {
      dispatcher: trusting,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "small", messages: [{ role: "user", content: "hello" }] }),
    });
    await answer.body.dump();
    return answer.statusCode === 200 ? answer.headers["x-farmgate-worker"] : answer.statusCode;
  }

  test("serves a model of the agent behind HTTPS, whose certificate it knows from the same file", async () => {
    expect(await askMac()).toBe("mac");
  });

  test("is asked by `status` and `explain` once its authority is trusted, and they say how", async () => {
    const env = { NODE_EXTRA_CA_CERTS: AUTHORITY };
    const status = await command(["status", "--gateway", url], env);
    expect(status).toMatchObject({ code: 0, stderr: "" });
    expect(status.stdout).toMatch(/mac +healthy/);
    expect((await command(["explain", "small", "--gateway", url], env)).stdout).toContain("mac");
    const stranger = await command(["status", "--gateway", url], { NODE_EXTRA_CA_CERTS: undefined });
    expect(stranger.code).toBe(1);
    expect(stranger.stderr).toMatch(/nobody here trusts who signed its certificate .*NODE_EXTRA_CA_CERTS/);
  });

  test("takes renewed files without a restart, and keeps the old ones while the new do not go together", async () => {
    await copyFile(join(folder, "renewed.pem"), join(folder, "shown.pem"));
    await told(up, "the changed certificate cannot be used yet");
    expect(await shownAt(url)).toBe("Farmgate test server");
    await copyFile(join(folder, "renewed.key.pem"), join(folder, "shown.key.pem"));
    await until(async () => (await shownAt(url)) === "Farmgate test renewed", "the gateway shows the renewed one");
    await until(async () => (await shownAt(agentUrl)) === "Farmgate test renewed", "the agent shows the renewed one");
    // Its agent is trusted by the renewed one, too.
    await until(async () => (await askMac()) === "mac", "the agent is trusted again");
    await until(
      async () =>
        (await command(["status", "--gateway", url], { NODE_EXTRA_CA_CERTS: AUTHORITY })).stdout.includes(
          "mac     healthy",
        ),
      "it is polled",
    );
    expect(up.output()).not.toContain("PRIVATE KEY");
  });
});

test("a certificate that cannot be used is told by `check` and at the start, with exit code 2 there", async () => {
  const text = "workers: []\nlisten: { port: 0 }\ntls: { cert: server.pem, key: renewed.key.pem }\n";
  const file = join(folder, "gateway.yaml");
  await writeFile(file, text);
  const problem = "gateway.yaml:3: tls.key: renewed.key.pem is not the key of server.pem";
  expect(await command(["check", file])).toMatchObject({ code: 1, stdout: expect.stringContaining(problem) });
  expect(await command(["gateway", "--config", file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(problem),
  });
});

test("a renewed certificate is taken though the file that names it has come to be refused meanwhile", async () => {
  const [port = 0] = await freePorts(1);
  for (const part of ["pem", "key.pem"]) await copyFile(join(folder, `server.${part}`), join(folder, `alone.${part}`));
  const file = join(folder, "alone.yaml");
  const text = `workers: []\nlisten: { port: ${port} }\ntls: { cert: alone.pem, key: alone.key.pem }\n`;
  await writeFile(file, text);
  const gateway = start(cleanup, ["gateway", "--config", file]);
  await told(gateway, "listening");
  await writeFile(file, `${text}nonsense: true\n`);
  await told(gateway, "the changed configuration is refused");
  await copyFile(join(folder, "renewed.pem"), join(folder, "alone.pem"));
  await copyFile(join(folder, "renewed.key.pem"), join(folder, "alone.key.pem"));
  await told(gateway, "the renewed certificate is in use");
  expect(await shownAt(`https://127.0.0.1:${port}`)).toBe("Farmgate test renewed");
});
