import { describe, expect, it } from "vitest";
import { Learned } from "../src/figures/learned.ts";
import { Promises } from "../src/figures/promises.ts";
import { agentConfigSchema } from "../src/index.ts";
import { Scheduler } from "../src/queue/scheduler.ts";
import { rulesOf } from "../src/scheduler-rules.ts";
import { ModelBook } from "../src/served-model.ts";
import { catalogOf } from "../src/status.ts";

describe("the catalogue of a machine with hundreds of models", () => {
  it("is made at once, although a thousand requests wait", () => {
    const models = Array.from({ length: 300 }, (_, at) => ({
      name: `m${at}`,
      url: `http://127.0.0.1:${at + 1}`,
      command: "serve",
      memory: "1gb",
    }));
    const config = agentConfigSchema.parse({ memory: { budget: "20gb" }, models });
    const book = new ModelBook(config);
    const rules = rulesOf(config, book.models);
    const scheduler = new Scheduler(rules);
    for (let id = 0; id < 1_000; id += 1) {
      const job = { id: String(id), requestId: String(id), model: `m${id % 40}`, caller: "", arrivedAt: 0 };
      const plain = { priority: "interactive", deadlineAt: null, kind: "request" } as const;
      scheduler.on({ type: "arrive", job: { ...job, ...plain } }, 0);
    }
    const at = { now: 1, models: book.models, rules, view: scheduler.view(1), waiting: scheduler.waiting(1, 1_000) };
    const figures = { learned: new Learned(), promises: new Promises(), promised: true, longestAnswerMs: 60_000 };
    // Time of the processor, which a busy machine does not lengthen.
    const before = process.cpuUsage();
    const catalog = catalogOf({ name: "box", version: "0" }, { ...at, ...figures });
    const { user, system } = process.cpuUsage(before);
    expect(catalog.queue.waiting).toHaveLength(1_000);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});
