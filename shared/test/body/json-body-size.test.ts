import { expect, it } from "vitest";
import { JsonBody } from "../../src/body/json-body.ts";
import { ANSWERS_KEPT } from "../../src/body/scanned-body.ts";

it("keeps the last places alone where there are millions of answers", () => {
  const count = 2_000_000;
  const bytes = Buffer.from(`{"model":"m","messages":[1${',{"role":"assistant"}'.repeat(count)}]}`);
  const startedAt = performance.now();
  const scanner = new JsonBody();
  scanner.push(bytes);
  const found = scanner.finish();
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  const places = found.ok ? (found.messages?.beforeAnswers ?? []) : [];
  expect(places).toHaveLength(ANSWERS_KEPT);
  expect(places.at(-1)).toBe(bytes.length - ',{"role":"assistant"}]}'.length);
});
