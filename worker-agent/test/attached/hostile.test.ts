import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { until } from "../support/conditions.ts";
import { attach, never, startServer } from "./attached-rig.ts";

const NAMES = Array.from({ length: 30_000 }, (_, i) => ({ name: `model-${i}`, size: -1, capabilities: 7 }));

const endless = (response: ServerResponse) => {
  const more = () => {
    for (let i = 0; i < 16 && !response.destroyed; i += 1) response.write("x".repeat(65_536));
    if (!response.destroyed) setImmediate(more);
  };
  more();
};

describe("an attached engine that answers nonsense", () => {
  it.each<[string, (response: ServerResponse) => unknown]>([
    ["no JSON", () => "<html>"],
    ["another form", () => ({ models: { a: 1 } })],
    ["an error", (response) => Object.assign(response, { statusCode: 500 }) && {}],
    ["a key that is not accepted", (response) => Object.assign(response, { statusCode: 401 }) && {}],
    ["a body without end", endless],
    ["a broken connection", (response) => void response.destroy()],
  ])("has no models, and the agent starts all the same: %s", async (_, answer) => {
    const server = await startServer((_call, response) => answer(response));
    const { names, warnings, holder } = await attach([{ url: server.url, engine: "ollama" }]);
    expect(names()).toEqual([]);
    expect(warnings).toHaveLength(1);
    await holder.close();
  });

  it("starts although an engine never answers", async () => {
    const silent = await startServer(() => undefined);
    const good = await startServer(({ path }) => ({ models: path === "/api/tags" ? [{ name: "a" }] : [] }));
    const { names } = await attach([
      { url: silent.url, engine: "ollama" },
      { url: good.url, engine: "ollama" },
    ]);
    await until(() => names().length === 1);
    expect(names()).toEqual(["a"]);
  });

  it("is read up to a number of models, each of them well named", async () => {
    const bad = [{ name: "" }, { name: "a\u0000b" }, { name: 7 }, null, { name: "x".repeat(400) }];
    const list = { models: [...bad, ...NAMES] };
    const server = await startServer(({ path }) => (path === "/api/tags" ? list : { models: [] }));
    const models = { "model-9000": {} };
    const { names, count, warnings } = await attach([{ url: server.url, engine: "ollama", poll: "1h", models }]);
    expect(names()).toHaveLength(2_001);
    expect(names().at(-1)).toBe("model-9000");
    expect(count("models")).toBe(1);
    expect(warnings).toEqual([expect.stringContaining("lists more than 2000 models")]);
  });

  it("says not too much in the log of a list that clashes all the time", async () => {
    let round = 0;
    const server = await startServer(({ path }) => {
      if (path !== "/api/tags") return { models: [] };
      round += 1;
      const twins = NAMES.slice(0, 100).map(({ name }) => ({ name: `${name}-${round}` }));
      return { models: [...twins, ...twins] };
    });
    const { warnings } = await attach([{ url: server.url, engine: "ollama" }]);
    await until(() => round > 5);
    expect(warnings.length).toBeLessThanOrEqual(200);
  });

  it("cannot hold a load beyond its time by an answer without end", async () => {
    const server = await startServer(({ method, path }, response) => {
      if (method === "POST") return endless(response);
      return path === "/api/tags" ? { models: [{ name: "a" }] } : { models: [] };
    });
    const { holder, model } = await attach([{ url: server.url, engine: "ollama", models: { a: { timeout: "2s" } } }]);
    // What it has said so far is good; what it goes on to say is not read.
    expect((await holder.load(model("a"), null, never)).ok).toBe(true);
    const quiet = await startServer(({ method, path }, response) => {
      if (method === "POST") return void response.write("{");
      return path === "/api/tags" ? { models: [{ name: "b" }] } : { models: [] };
    });
    const other = await attach([{ url: quiet.url, engine: "ollama", models: { b: { timeout: "200ms" } } }]);
    expect(await other.holder.load(other.model("b"), null, never)).toMatchObject({ ok: false });
  });
});
