import type { FastifyInstance } from "fastify";
import type { Catalog } from "../catalog/types.ts";
import type { Farm } from "../farm.ts";
import { loadOfAll, metricsOfAll } from "../together/siblings.ts";
import { togetherView } from "./together-view.ts";
import { workerState } from "./worker-state.ts";

/** The paths that tell other infrastructure how the gateway is. */
export function healthRoutes(app: FastifyInstance, farm: Farm): void {
  app.get("/", (_request, reply) => reply.type("text/plain").send("Farmgate is running"));
  app.get("/livez", (_request, reply) => reply.type("text/plain").send("ok"));
  app.get("/readyz", (_request, reply) => {
    const ready = farm.isReady && !farm.draining;
    const text = farm.draining ? "draining" : ready ? "ok" : "the first catalogues are not there yet";
    return reply
      .code(ready ? 200 : 503)
      .type("text/plain")
      .send(text);
  });
  app.get("/health", async (_request, reply) => {
    const { hub, siblings, catalog } = farm;
    const load = await loadOfAll(farm);
    const { workers } = catalog.current;
    const status = farmStatus(catalog.current, hub.trouble);
    return reply.code(status === "down" ? 503 : 200).send({
      status,
      version: farm.version,
      draining: farm.draining,
      uptime_s: Math.round((farm.clock.now() - farm.startedAt) / 1_000),
      workers: { total: workers.length, serving: workers.filter(canServe).length },
      ...load,
      ...(siblings.isShared && { processes: siblings.members().length }),
      ...togetherView(hub),
    });
  });
  app.get("/metrics", (_request, reply) => {
    void reply.type(farm.metrics.contentType);
    return metricsOfAll(farm);
  });
}

/** `ok` when every worker is in order and other gateways are heard, `degraded` while at least one can serve, else `down`. */
function farmStatus(catalog: Catalog, trouble: string | null): "ok" | "degraded" | "down" {
  if (!catalog.workers.some(canServe)) return "down";
  return trouble === null && catalog.workers.every((worker) => workerState(worker) === "healthy") ? "ok" : "degraded";
}

function canServe(worker: Catalog["workers"][number]): boolean {
  return worker.health === "healthy" && !worker.draining;
}
