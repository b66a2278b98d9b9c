import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { until } from "../harness/until.ts";
import { answers, written } from "./cli-process.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const cleanup = new Cleanup();
afterAll(() => cleanup.run());

test("`npm start` runs `up`, tells commands as npm would run them, and ends with the farm when it is told to", async () => {
  const [gateway = 0, engine = 0] = await freePorts(2);
  const file = await written(
    cleanup,
    "farm.yaml",
    `gateway: { listen: { port: ${gateway} } }\nengines: [{ listen: { port: ${engine} }, models: [m] }]\n`,
  );
  const npm = spawn("npm", ["start", "--", "--config", file], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  cleanup.add(npm, (child) => child.kill("SIGKILL"));
  let printed = "";
  npm.stdout.on("data", (data: Buffer) => {
    printed += data.toString();
  });
  await until(() => printed.includes("npm run farmgate -- status"), "the welcome", 60_000);
  npm.kill("SIGTERM");
  const [code] = await once(npm, "exit");
  expect(code).toBe(0);
  expect(await answers(`http://127.0.0.1:${gateway}/livez`)).toBe(false);
  expect(await answers(`http://127.0.0.1:${engine}/health`)).toBe(false);
});
