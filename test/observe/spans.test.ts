import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ask } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestEngine } from "../harness/gateway-farm.ts";
import { runAgent, runGateway } from "../harness/in-process.ts";
import { type CollectedSpan, startCollector } from "../harness/otlp-collector.ts";
import { startRecordingEngine } from "../harness/recording-engine.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const FROM_CALLER = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: "vendor=1,other=2" };
const KEY = "k-secret-0123456789";
const WORDS = "nobody else reads this";

function chat(url: string, model: string, headers: Record<string, string> = {}) {
  const messages = [{ role: "user", content: WORDS }];
  return ask(`${url}/v1/chat/completions`, { model, messages, max_tokens: 3 }, headers).answer;
}

function only(spans: readonly CollectedSpan[], service: string, kind: number): CollectedSpan {
  const [found, ...others] = spans.filter((span) => span.service === service && span.kind === kind);
  if (found === undefined || others.length > 0) throw new Error(`${others.length} more spans of ${service}`);
  return found;
}

/** Lists one model, and answers every question with 500. */
async function failingWorker(model: string): Promise<{ url: string; asked: IncomingHttpHeaders[] }> {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const isQuestion = request.method === "POST";
    if (isQuestion) asked.push(request.headers);
    response.writeHead(isQuestion ? 500 : 200, { "content-type": "application/json" });
    const list = { object: "list", data: [{ id: model, object: "model" }] };
    response.end(JSON.stringify(isQuestion ? { error: { message: "out of order" } } : list));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe("a traced request", () => {
  it("is one trace from its caller through gateway and agent, with the swap that it waited for", async () => {
    const collector = await startCollector(cleanup);
    const telemetry = { otlp: collector.url, headers: { authorization: "Bearer collector" } };
    const engine = await startTestEngine(cleanup, { models: ["a", "b"], load: "20ms", maxLoaded: 1, autoload: false });
    const models = ["a", "b"].map((name) => ({ name, url: engine.url, ready: "models" }));
    const agent = await runAgent(cleanup, { name: "box", models, telemetry });
    const keys = [{ name: "alice", key: KEY }];
    const workers = [{ name: "box", url: agent.url, engine: "agent" }];
    const gateway = await runGateway(cleanup, { workers, keys, telemetry }, {}, KEY);
    const answer = await chat(gateway.url, "b", { ...FROM_CALLER, authorization: `Bearer ${KEY}` });
    expect(answer.status).toBe(200);
    await gateway.close();
    await agent.close();

    const { spans } = collector;
    expect(spans).toHaveLength(3);
    const request = only(spans, "farmgate-gateway", 2);
    const attempt = only(spans, "farmgate-gateway", 3);
    const served = only(spans, "farmgate-agent", 2);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect([request.parentSpanId, attempt.parentSpanId, served.parentSpanId]).toEqual([
      CALLER,
      request.spanId,
      attempt.spanId,
    ]);
    expect(request).toMatchObject({
      name: "POST /v1/chat/completions",
      attributes: {
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "http.response.status_code": 200,
        "gen_ai.request.model": "b",
        "farmgate.worker": "box",
        "farmgate.caller": "alice",
        "farmgate.request.id": answer.headers["x-request-id"],
      },
      status: 0,
    });
    expect(attempt).toMatchObject({
      name: "chat b",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "agent",
        "server.address": "127.0.0.1",
        "server.port": agent.port,
        "http.response.status_code": 200,
        "gen_ai.usage.output_tokens": 3,
      },
    });
    expect(served.events.map(({ name }) => name)).toEqual([
      "queued",
      "swap_started",
      "swap_ended",
      "sent",
      "first_byte",
    ]);
    expect(served.events[1]?.attributes).toMatchObject({ "farmgate.swap.to": "b" });
    const times = [request.startMs, served.startMs, ...served.events.map(({ atMs }) => atMs), served.endMs];
    // What clocks of two programs and their rounding may differ by.
    for (const [i, at] of times.entries()) expect(at).toBeGreaterThanOrEqual((times[i - 1] ?? at) - 2);
    expect(attempt.endMs).toBeLessThanOrEqual(request.endMs + 2);
    expect(collector.headers.every(({ authorization }) => authorization === "Bearer collector")).toBe(true);
    for (const body of collector.bodies) {
      expect(body).not.toContain(WORDS);
      expect(body).not.toContain(KEY);
    }
  });

  it("has a span for each worker that was asked, and each worker is told of its own", async () => {
    const collector = await startCollector(cleanup);
    const failing = await failingWorker("m");
    const good = await startRecordingEngine(cleanup, "m");
    const gateway = await runGateway(cleanup, {
      workers: [
        { name: "bad", url: failing.url, engine: "openai", weight: 1_000 },
        { name: "good", url: good.url, engine: "openai" },
      ],
      routing: { strategy: "least-connections" },
      telemetry: { otlp: collector.url },
    });
    await until(async () => {
      await chat(gateway.url, "m", FROM_CALLER);
      return failing.asked.length > 0;
    }, "the bad one was asked first");
    await gateway.close();
    const bad = collector.spans.find((span) => span.attributes["farmgate.worker"] === "bad" && span.kind === 3);
    const tries = collector.spans.filter(({ kind, parentSpanId }) => kind === 3 && parentSpanId === bad?.parentSpanId);
    expect(tries).toMatchObject([
      {
        attributes: { "farmgate.worker": "bad", "error.type": "worker_fault", "http.response.status_code": 500 },
        status: 2,
      },
      { attributes: { "farmgate.worker": "good", "http.request.resend_count": 1 }, status: 0 },
    ]);
    const told = [failing.asked[0], good.recorded.at(-1)?.headers];
    expect(told.map((headers) => headers?.["traceparent"])).toEqual(
      tries.map(({ spanId }) => `00-${TRACE}-${spanId}-01`),
    );
    expect(told.map((headers) => headers?.["tracestate"])).toEqual([FROM_CALLER.tracestate, FROM_CALLER.tracestate]);
  });

  it("is not told of where its caller, or the share that is kept, leaves it out; workers still learn whose it is", async () => {
    const collector = await startCollector(cleanup);
    const engine = await startRecordingEngine(cleanup, "m");
    const workers = [{ name: "box", url: engine.url, engine: "openai" }];
    const gateway = await runGateway(cleanup, { workers, telemetry: { otlp: collector.url, sample: 0 } });
    await chat(gateway.url, "m", { traceparent: `00-${TRACE}-${CALLER}-00` });
    await chat(gateway.url, "m");
    await gateway.close();
    expect(collector.spans).toEqual([]);
    const told = engine.recorded.map(({ headers }) => String(headers["traceparent"]));
    expect(told[0]).toMatch(new RegExp(`^00-${TRACE}-(?!${CALLER})[0-9a-f]{16}-00$`));
    expect(told[1]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });

  it("is answered while nobody takes its spans, and the gateway stops all the same", async () => {
    const [port = 0] = await freePorts(1);
    const engine = await startRecordingEngine(cleanup, "m");
    const workers = [{ name: "box", url: engine.url, engine: "openai" }];
    const gateway = await runGateway(cleanup, { workers, telemetry: { otlp: `http://127.0.0.1:${port}` } });
    expect((await chat(gateway.url, "m")).status).toBe(200);
    const at = performance.now();
    await gateway.close();
    expect(performance.now() - at).toBeLessThan(5_000);
  });
});

describe("without telemetry", () => {
  it("what the caller tells of its trace reaches the worker as it is", async () => {
    const engine = await startRecordingEngine(cleanup, "m");
    const gateway = await runGateway(cleanup, { workers: [{ name: "box", url: engine.url, engine: "openai" }] });
    await chat(gateway.url, "m", FROM_CALLER);
    await chat(gateway.url, "m");
    const told = engine.recorded.map(({ headers: { traceparent, tracestate } }) => ({ traceparent, tracestate }));
    expect(told).toEqual([FROM_CALLER, { traceparent: undefined, tracestate: undefined }]);
  });
});
