import { generateKeyPairSync } from "node:crypto";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { certificatesOf } from "../../src/config/certificate-files.ts";
import { openConfig } from "../../src/config/open-config.ts";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

const FIXTURES = fileURLToPath(new URL("../../../test/fixtures/tls/", import.meta.url));
const NOW = 1_800_000_000_000;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "farmgate-certificates-"));
  await cp(FIXTURES, folder, { recursive: true });
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const locked = privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" });
  await writeFile(join(folder, "locked.key.pem"), locked);
  await writeFile(join(folder, "broken.pem"), "-----BEGIN CERTIFICATE-----\nSECRETBYTES\n-----END CERTIFICATE-----\n");
});
afterAll(() => rm(folder, { recursive: true }));

async function found(text: string) {
  const file = join(folder, "file.yaml");
  await writeFile(file, text);
  const { problems, warnings } = await certificatesOf(await openConfig(file, {}), NOW);
  const shown = (list: typeof problems) => list.map(({ path, line, message }) => `${line} ${path}: ${message}`);
  return { problems: shown(problems), warnings: shown(warnings) };
}

const gateway = (cert: string, key: string) => `workers: []\ntls: { cert: ${cert}, key: ${key} }\n`;

test("a certificate and its key, named relative to the file, are in order", async () => {
  expect(await found(gateway("server.pem", "./server.key.pem"))).toEqual({ problems: [], warnings: [] });
  expect(await found(gateway(join(folder, "server.pem"), join(folder, "server.key.pem")))).toEqual({
    problems: [],
    warnings: [],
  });
});

test.each([
  ["a file that is not there", "none.pem", "server.key.pem", "2 tls.cert: none.pem cannot be read: no such file"],
  ["a folder", "server.pem", ".", "2 tls.key: . cannot be read: it is a folder"],
  ["the key of another", "server.pem", "renewed.key.pem", "2 tls.key: renewed.key.pem is not the key of server.pem"],
  [
    "both the wrong way round",
    "server.key.pem",
    "server.pem",
    "2 tls.cert: server.key.pem holds no certificate: it must be a PEM file",
  ],
  ["no key", "server.pem", "server.pem", "2 tls.key: server.pem holds no private key: it must be a PEM file"],
  [
    "a key with a passphrase",
    "server.pem",
    "locked.key.pem",
    "2 tls.key: locked.key.pem is protected by a passphrase, which nobody could type: it must be a plain one",
  ],
  [
    "a broken certificate",
    "broken.pem",
    "server.key.pem",
    "2 tls.cert: broken.pem holds no certificate: it must be a PEM file",
  ],
])("%s is told with its line, and nothing of what the files hold", async (_what, cert, key, problem) => {
  expect((await found(gateway(cert, key))).problems).toEqual([problem]);
});

test("a certificate that has expired is a warning", async () => {
  expect(await found(gateway("expired.pem", "expired.key.pem"))).toEqual({
    problems: [],
    warnings: ["2 tls.cert: expired.pem has expired on 2021-01-01"],
  });
});

test("the authorities of workers and the certificates of a farm file's agents are looked at too", async () => {
  const text = `gateway:
  workers:
    - { name: a, url: "https://h", ca: authority.pem }
    - { name: b, url: "https://h", ca: server.key.pem }
agents:
  - name: mac
    tls: { cert: server.pem, key: renewed.key.pem }
    models: [{ name: m, url: "http://127.0.0.1:1", command: x }]
`;
  expect((await found(text)).problems).toEqual([
    "4 gateway.workers[1].ca: server.key.pem holds no certificate: it must be a PEM file",
    "7 agents[0].tls.key: renewed.key.pem is not the key of server.pem",
  ]);
});

test("whom an agent trusts of the gateways that it registers with is looked at too, of one and of a list", async () => {
  const agent = "name: a\nopen: true\ngateway:";
  const entry = '{ url: "https://h", ca: server.key.pem }';
  const problem = "server.key.pem holds no certificate: it must be a PEM file";
  expect((await found(`${agent} ${entry}\n`)).problems).toEqual([`3 gateway.ca: ${problem}`]);
  expect((await found(`${agent}\n  - ${entry}\n`)).problems).toEqual([`4 gateway[0].ca: ${problem}`]);
});

test("`farmgate check` says so, and an agent's file with `tls` is still an agent's", async () => {
  const file = join(folder, "agent.yaml");
  await writeFile(file, `name: a\nopen: true\ntls: { cert: server.pem, key: renewed.key.pem }\n`);
  const io = fakeIo(["check", file]);
  expect(await runProgram(io)).toBe(1);
  expect(io.printed.stdout).toContain("agent.yaml:3: tls.key: renewed.key.pem is not the key of server.pem");
});
