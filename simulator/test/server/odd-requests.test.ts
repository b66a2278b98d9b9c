import { connect } from "node:net";
import { expect, test } from "vitest";
import { chat, engineWith, get } from "./ask.ts";

test.each(["//", "http://[", "*"])("a request for %s is answered, and the engine lives on", async (target) => {
  const engine = await engineWith();
  const socket = connect(engine.port, "127.0.0.1");
  socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  let text = "";
  for await (const piece of socket) text += String(piece);
  expect(text).toMatch(/^HTTP\/1.1 404 /);
  expect((await get(engine, "/health")).status).toBe(200);
});

test("a schema that asks for boundless values gets small ones", async () => {
  const engine = await engineWith();
  const item = {
    type: "array",
    minItems: 1e9,
    items: { type: "array", minItems: 1e9, items: { type: "string", minLength: 1e9 } },
  };
  const response_format = { type: "json_schema", json_schema: { schema: item } };
  const { status, body } = await chat(engine, { max_tokens: undefined, response_format }).answer;
  expect(status).toBe(200);
  expect(body.length).toBeLessThan(1_000_000);
});
