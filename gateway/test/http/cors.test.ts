import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { chat, runGateway } from "../support/gateway.ts";

function preflight(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "OPTIONS", headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, headers: response.headers });
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("CORS on the wire", () => {
  it("answers a preflight with 204, the methods and the headers that were asked for", async () => {
    const gateway = await runGateway({});
    const answer = await preflight(`${gateway.url}/v1/chat/completions`, {
      origin: "http://localhost:3000",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, x-stainless-os, bad header",
    });
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "http://localhost:3000",
      "access-control-allow-methods": expect.stringContaining("POST"),
      "access-control-allow-headers": "authorization, x-stainless-os",
    });
  });

  it("stands once on every answer, on errors too, and on none for other pages", async () => {
    const gateway = await runGateway({ cors: { origins: ["https://chat.example"] } });
    const headers = { origin: "https://chat.example" };
    const answers = [
      await chat(gateway, "{", { headers }),
      await chat(gateway, { model: "none" }, { headers }),
      await fetch(`${gateway.url}/v1/models`, { headers }),
      await fetch(`${gateway.url}/nowhere`, { headers }),
      await fetch(`${gateway.url}/v1/chat/completions`, { headers }),
    ];
    for (const answer of answers) {
      expect(answer.headers.get("access-control-allow-origin")).toBe("https://chat.example");
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    }
    const foreign = await chat(gateway, "{", { headers: { origin: "http://evil.example" } });
    expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("keeps other pages from changing the farm", async () => {
    const gateway = await runGateway({ workers: [{ name: "a", url: "http://127.0.0.1:9", engine: "openai" }] });
    const drain = (origin: string) =>
      fetch(`${gateway.url}/farm/workers/a/drain`, { method: "POST", headers: { origin } });
    expect((await drain("http://evil.example")).status).toBe(403);
    expect((await drain("http://localhost:1")).status).toBe(200);
  });
});
