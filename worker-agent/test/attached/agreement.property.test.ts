import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { until } from "../support/conditions.ts";
import { attach, never, startOllama } from "./attached-rig.ts";

const MODELS = ["a:1b", "b:1b", "c:1b"] as const;

const step = fc.record({
  what: fc.constantFrom("load", "load", "unload", "evict", "another client", "fails", "die", "wait"),
  model: fc.constantFrom(...MODELS),
  ms: fc.nat(30),
});

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("what a holder tells of an attached engine, over real sockets", () => {
  it("agrees with the engine once things are quiet, whatever came in whatever order", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const ollama = await startOllama({ models: [...MODELS], maxLoaded: 2, loadMs: 8 });
        const { holder, model, news } = await attach([{ url: ollama.url, poll: "5ms" }], { swap: { timeout: "1s" } });
        const told = new Set<string>();
        let read = 1;
        const readNews = () => {
          for (; read < news.length; read += 1) {
            const [what = "", name = ""] = (news[read] ?? "").split(/ |: /);
            if (what === "found") told.add(name);
            else if (what === "lost") told.delete(name);
          }
        };
        const run = async (name: string, loads: boolean) => {
          const result = await (loads ? holder.load(model(name), null, never) : holder.unload(model(name), never));
          readNews();
          if (loads && result.ok) told.add(name);
          else if (loads || result.ok) told.delete(name);
        };
        let dead = false;
        /** Whose loads must have come to an end before it is quiet. */
        const clients: Promise<unknown>[] = [];
        /** One after the other, as a scheduler gives them; all else goes on beside them. */
        let orders: Promise<void> = Promise.resolve();
        for (const { what, model: name, ms } of steps) {
          if (what === "load" || what === "unload") orders = orders.then(() => run(name, what === "load"));
          else if (what === "evict") ollama.models.evict(name);
          else if (what === "fails") ollama.models.setFailing(name, ms % 2 === 0);
          else if (what === "another client") {
            const body = JSON.stringify({ model: name });
            clients.push(fetch(`${ollama.url}/api/generate`, { method: "POST", body }).catch(() => {}));
          } else if (what === "die") {
            await (dead ? ollama.open() : ollama.die());
            dead = !dead;
          } else await wait(ms);
        }
        await orders;
        await Promise.all(clients);
        if (dead) await ollama.open();
        await until(() => ollama.models.running().length === ollama.models.loaded().length);
        const looks = ollama.looks;
        await until(() => ollama.looks > looks + 3);
        readNews();
        const truth = ollama.models.loaded().sort();
        const said = [...told].sort();
        await holder.close();
        await ollama.die();
        expect(said).toEqual(truth);
      }),
      { numRuns: 40 },
    );
  });
});
