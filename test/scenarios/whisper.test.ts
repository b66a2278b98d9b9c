import { afterEach, expect, test } from "vitest";
import { startKinds } from "../harness/all-kinds-farm.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

test("a whisper.cpp is asked at its own path, once it has said that it does not have OpenAI's", async () => {
  const models = [{ name: "whisper", kind: "audio" as const }];
  const { engine, seen } = await startKinds(cleanup, "w", { models, single: true, apis: ["inference"] });
  const [port = 0] = await freePorts(1);
  const agentUrl = `http://127.0.0.1:${port}`;
  const engines = [{ url: engine.url, engine: "whisper" }];
  await cleanup.program("agent", { name: "box", listen: { port }, engines, drain: "1s" }, agentUrl);
  const sound = new Blob(["what was said"]);
  const transcribe = async (url: string, path: string) => {
    const form = new FormData();
    form.append("model", "whisper");
    form.append("file", sound, "a.wav");
    const answer = await fetch(url + path, { method: "POST", body: form });
    return { status: answer.status, text: await answer.text() };
  };
  const said = await transcribe(engine.url, "/inference");
  expect(said.status).toBe(200);
  for (const worker of [
    { name: "ears", url: engine.url, engine: "whisper" },
    { name: "box", url: agentUrl },
  ]) {
    const gateway = await startTestGateway(cleanup, {}, { workers: [worker] });
    for (const paths of [["/v1/audio/transcriptions", "/inference"], ["/inference"]]) {
      const before = seen.length;
      expect(await transcribe(gateway.url, "/v1/audio/transcriptions")).toEqual(said);
      expect(seen.slice(before).map(({ url }) => url)).toEqual(paths);
    }
    const translation = await transcribe(gateway.url, "/v1/audio/translations");
    expect(translation).toMatchObject({ status: 404, text: expect.stringContaining("No worker serves translations") });
  }
});
