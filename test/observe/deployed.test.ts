import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestEngine } from "../harness/gateway-farm.ts";
import { runAgent, runGateway } from "../harness/in-process.ts";
import { until } from "../harness/until.ts";
import { dashboard, labelsIn, metricsIn, PROMETHEUS, rules } from "./queries.ts";

const cleanup = new Cleanup();
afterAll(() => cleanup.run());

/** By name, the labels that were seen on it. */
const exposed = new Map<string, Set<string>>();
/** What Prometheus adds as it scrapes: `worker` to the metrics of agents. */
const OF_THE_SCRAPE = ["job", "instance"];
/** Told where several gateways act as one. */
const OF_SEVERAL = new Map([
  ["farmgate_gateways", []],
  ["farmgate_together_up", []],
  ["farmgate_claims_total", ["result"]],
]);

/** Lists model `m`; every second answer is a stream that breaks off, the others are 500. */
async function brokenEngine(): Promise<string> {
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.method !== "POST") {
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ object: "list", data: [{ id: "broken", object: "model" }] }));
    }
    asked += 1;
    if (asked % 2 === 1) return response.writeHead(500).end("{}");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"choices":[]}\n\n');
    setImmediate(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function read(text: string, more: readonly string[]): void {
  for (const line of text.split("\n")) {
    const [, name = "", labels = ""] = /^([\w:]+)(?:\{([^}]*)\})? /.exec(line) ?? [];
    if (name === "") continue;
    const seen = exposed.get(name) ?? new Set([...OF_THE_SCRAPE, ...more]);
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) seen.add(label);
    exposed.set(name, seen);
  }
}

beforeAll(async () => {
  const engine = await startTestEngine(cleanup, { models: ["a", "b"], load: "20ms", maxLoaded: 1, autoload: false });
  const models = ["a", "b"].map((name) => ({ name, url: engine.url, ready: "models", slots: 1 }));
  const agent = await runAgent(cleanup, { name: "box", models });
  const gateway = await runGateway(
    cleanup,
    {
      workers: [
        { name: "box", url: agent.url, engine: "agent" },
        { name: "broken", url: await brokenEngine(), engine: "openai", maxConcurrent: 1 },
      ],
      keys: [
        { name: "all", key: "k-all" },
        { name: "few", key: "k-few", requestsPerMinute: 1 },
      ],
    },
    {},
    "k-all",
  );
  const chat = (model: string, more: object = {}, headers: Record<string, string> = {}) =>
    ask(
      `${gateway.url}/v1/chat/completions`,
      { model, messages: [], max_tokens: 2, ...more },
      {
        authorization: "Bearer k-all",
        ...headers,
      },
    ).answer;
  const broken = [1, 2, 3, 4].map(() => chat("broken", { stream: true }));
  const few = { authorization: "Bearer k-few" };
  await Promise.all([...broken, chat("a"), chat("b"), chat("a"), chat("a", {}, few), chat("a", {}, few)]);
  const text = async (url: string) =>
    (await fetch(`${url}/metrics`, { headers: { authorization: "Bearer k-all" } })).text();
  await until(async () => (await text(gateway.url)).includes('requests_total{api="chat",model="b"'), "all are counted");
  read(await text(gateway.url), []);
  read(await text(agent.url), ["worker"]);
  exposed.set("up", new Set([...OF_THE_SCRAPE, "worker"]));
  for (const [name, labels] of OF_SEVERAL) exposed.set(name, new Set([...OF_THE_SCRAPE, ...labels]));
  // Of `scheduling: deadline`, whose farm would be another one.
  exposed.set("farmgate_deadlines_missed_total", new Set([...OF_THE_SCRAPE, "end"]));
  for (const { name, kind, expr } of rules()) {
    if (kind === "record")
      exposed.set(name, new Set(metricsIn(expr).flatMap((metric) => [...(exposed.get(metric) ?? [])])));
  }
});

const ofRules = rules().map(({ name, expr }) => ({ from: name, expr }));
const ofPanels = dashboard().panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ from: title, expr })));

describe("what is asked of Prometheus", () => {
  it.each([...ofRules, ...ofPanels])("$from: $expr is told by gateway or agent", ({ expr }) => {
    const metrics = metricsIn(expr);
    expect(metrics).not.toEqual([]);
    expect(metrics.filter((name) => !exposed.has(name))).toEqual([]);
    const labels = new Set(metrics.flatMap((name) => [...(exposed.get(name) ?? [])]));
    expect(labelsIn(expr).filter((label) => !labels.has(label))).toEqual([]);
  });

  it("finds what is wrong in an expression", () => {
    const expr = 'sum by (modle) (rate(farmgate_request_total{sttus="200"}[5m])) / on (worker) up{job="a"}';
    expect(metricsIn(expr)).toEqual(["farmgate_request_total", "up"]);
    expect(labelsIn(expr)).toEqual(["sttus", "job", "modle", "worker"]);
  });
});

describe("the dashboard", () => {
  const { panels, variables } = dashboard();

  it.each(panels)("says of $title what it is, and in which unit", ({ description = "", fieldConfig, targets }) => {
    expect(description.length).toBeGreaterThan(10);
    expect(fieldConfig.defaults.unit).toMatch(/\w/);
    for (const { expr, legendFormat = "" } of targets) {
      const shown = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, name]) => name ?? "");
      const isGrouped = /\bby \(/.test(expr);
      expect(shown.filter((name) => isGrouped && !labelsIn(expr).includes(name))).toEqual([]);
      // Four scrapes at least, whatever their pace; or a time that is said in the description.
      for (const [, , range] of expr.matchAll(/\b(rate|increase)\([^[]*\[([^\]]+)\]/g)) {
        expect(["$__rate_interval", "$__range", "5m", "1h"]).toContain(range);
      }
    }
  });

  it("has panels of their own place and number, and variables for all that they use", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    const used = ofPanels.flatMap(({ expr }) => expr.match(/\$(?!__)\w+(?=")/g) ?? []).filter((name) => name !== "$1");
    expect([...new Set(used)].sort()).toEqual(["$gateway", "$model", "$worker"]);
    expect(variables.map(({ name }) => name)).toEqual(["datasource", "gateway", "worker", "model"]);
  });
});

describe("an alert", () => {
  const docs = readFileSync(join(PROMETHEUS, "../../docs/observability.md"), "utf8");

  it.each(rules().filter(({ kind }) => kind === "alert"))("$name says how bad it is and what to do", (rule) => {
    const { name, labels, annotations } = rule;
    expect(["critical", "warning", "info"]).toContain(labels.severity);
    expect(annotations.summary).toBeTruthy();
    expect(annotations.description?.length).toBeGreaterThan(60);
    expect(annotations.runbook).toBe(`docs/observability.md, ${name}`);
    expect(docs).toMatch(new RegExp(`^### ${name}$`, "m"));
    const tested = readFileSync(join(PROMETHEUS, "rules.test.yml"), "utf8");
    expect(tested).toMatch(new RegExp(`alertname(="|: )${name}`));
  });
});

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

describe.skipIf(!hasPromtool)("promtool (where it is missing: apt-get install prometheus)", () => {
  const promtool = (...args: string[]) => promisify(execFile)("promtool", args, { cwd: PROMETHEUS });

  it("takes the configuration and the rules, and each alert fires when it should and not else", async () => {
    const runs = [promtool("check", "config", "prometheus.yml"), promtool("test", "rules", "rules.test.yml")];
    const [checked, tested] = await Promise.all(runs);
    expect(checked?.stdout).toContain("rules.yml");
    expect(tested?.stdout).toContain("SUCCESS");
  });
});
