import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";
import { isThere, pathOf, textOf } from "./deploy-files.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** The instructions of a Dockerfile, by stage; each is its word and the rest. */
function stagesOf(path: string): { name: string; lines: [string, string][] }[] {
  const text = textOf(path)
    .replaceAll(/^\s*#.*$/gm, "")
    .replaceAll("\\\n", " ");
  const stages: { name: string; lines: [string, string][] }[] = [{ name: "before", lines: [] }];
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const [, word = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (word === "FROM") stages.push({ name: / AS (\S+)$/.exec(rest)?.[1] ?? "last", lines: [] });
    stages.at(-1)?.lines.push([word, rest]);
  }
  return stages;
}

const argumentsOf = (lines: readonly [string, string][], word: string) =>
  lines.flatMap(([found, rest]) => (found === word ? [rest] : []));

describe("deploy/docker/Dockerfile", () => {
  const stages = stagesOf("deploy/docker/Dockerfile");
  const stage = (name: string) => stages.find((one) => one.name === name)?.lines ?? [];
  const workspaces = (JSON.parse(textOf("package.json")) as { workspaces: string[] }).workspaces;
  const copies = (name: string) => argumentsOf(stage(name), "COPY");

  test("copies files that are there", () => {
    const sources = stages
      .flatMap(({ lines }) => argumentsOf(lines, "COPY"))
      .filter((rest) => !rest.startsWith("--from="))
      .flatMap((rest) => rest.split(" ").slice(0, -1));
    expect(sources.length).toBeGreaterThan(10);
    expect(sources.filter((path) => !isThere(path))).toEqual([]);
  });

  test("knows every workspace", () => {
    expect(copies("manifests").slice(1)).toEqual(workspaces.map((name) => `${name}/package.json ${name}/`));
    const programs = workspaces.filter((name) => name !== "test");
    const copied = copies("build").slice(1);
    expect(copied.slice(0, programs.length)).toEqual(programs.map((name) => `${name} ${name}`));
    const built = copies("last").filter((rest) => rest.startsWith("--from=build "));
    expect(built).toEqual(programs.map((name) => `--from=build /opt/farmgate/${name}/dist ${name}/dist`));
  });

  test("has what the build runs", () => {
    const { scripts } = JSON.parse(textOf("package.json")) as { scripts: { build: string } };
    const files = [...scripts.build.matchAll(/node (\S+)/g)].map(([, file = ""]) => file);
    expect(files).toEqual(["release/bundle.mjs"]);
    expect(copies("build")).toEqual(expect.arrayContaining(files.map((file) => `${file} ${dirname(file)}/`)));
    expect(textOf(".dockerignore").split("\n")).toEqual(expect.arrayContaining(files.map((file) => `!${file}`)));
  });

  test("ends in a program that is no root, asked by Node itself, and told to end by SIGTERM", () => {
    const last = stage("last");
    expect(argumentsOf(last, "USER")).toEqual(["node"]);
    expect(argumentsOf(last, "STOPSIGNAL")).toEqual(["SIGTERM"]);
    expect(argumentsOf(last, "ENTRYPOINT")).toEqual(['["node", "/opt/farmgate/cli/dist/main.js"]']);
    expect(argumentsOf(last, "HEALTHCHECK")[0]).toMatch(/CMD \["node", "\/opt\/farmgate\/healthcheck\.mjs"\]$/);
  });

  test("is built from what .dockerignore lets through", () => {
    const lines = textOf(".dockerignore").split("\n");
    expect(lines.filter((line) => line.startsWith("!") && !line.includes("*")).map((line) => line.slice(1))).toSatisfy(
      (paths: string[]) => paths.every(isThere),
    );
    for (const rule of ["**", "!*/package.json", "!*/tsconfig.json", "!*/src", "**/node_modules", "**/dist"]) {
      expect(lines).toContain(rule);
    }
  });
});

test("an engine's image takes from Farmgate's what that has", () => {
  const last = stagesOf("deploy/docker/llama-server.Dockerfile").at(-1)?.lines ?? [];
  expect(argumentsOf(last, "COPY")).toContain("--from=farmgate /opt/farmgate /opt/farmgate");
  expect(argumentsOf(last, "ENTRYPOINT")).toEqual(['["node", "/opt/farmgate/cli/dist/main.js", "agent"]']);
  expect(argumentsOf(last, "USER")).toEqual(["1000:1000"]);
});

test("healthcheck.mjs ends by what is answered", async () => {
  let status = 200;
  const server = createServer((_request, response) => response.writeHead(status).end());
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanup.add(server, (one) => one.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/livez`;
  const check = async () => {
    const child = spawn(process.execPath, [pathOf("deploy/docker/healthcheck.mjs"), url], { stdio: "ignore" });
    return (await once(child, "close"))[0] as number;
  };
  expect(await check()).toBe(0);
  status = 503;
  expect(await check()).toBe(1);
  server.closeAllConnections();
  server.close();
  expect(await check()).toBe(1);
});
