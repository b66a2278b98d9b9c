import { expect, test } from "vitest";
import { parseFail } from "../../src/decide/fail.ts";

const form = (text: string) => {
  const parsed = parseFail(text);
  if ("problem" in parsed) throw new Error(parsed.problem);
  return parsed.form;
};
const problem = (text: string) => {
  const parsed = parseFail(text);
  return "problem" in parsed ? parsed.problem : null;
};

test.each([
  ["refuse", { kind: "refuse" }],
  ["hang", { kind: "hang" }],
  ["reset-after-512-bytes", { kind: "reset", afterBytes: 512 }],
  ["reset-after-0-bytes", { kind: "reset", afterBytes: 0 }],
  ["503-loading", { kind: "loading" }],
  ["slow", { kind: "slow", factor: 10 }],
  ["slow-20", { kind: "slow", factor: 20 }],
  ["status-429", { kind: "status", status: 429 }],
  ["catalog-500", { kind: "catalog", status: 500 }],
  ["load-fails", { kind: "load-fails" }],
])("%s", (text, effect) => {
  expect(form(text)).toEqual({ text, effect, model: null, first: null, chance: null });
});

test("a form can be for one model, the first N requests and a share of them", () => {
  expect(form("hang@coder")).toMatchObject({ model: "coder", first: null, chance: null });
  expect(form("hang:3")).toMatchObject({ model: null, first: 3 });
  expect(form("status-500%12.5")).toMatchObject({ model: null, chance: 0.125 });
  expect(form("slow-2@user/m:Q4_K_M:2%50")).toMatchObject({ model: "user/m:Q4_K_M", first: 2, chance: 0.5 });
  expect(form("hang@qwen3:8b")).toMatchObject({ model: "qwen3:8b", first: null });
});

test.each(["", "crash", "reset-after-bytes", "reset-after-12", "slow-0", "slow-2-bytes", "status-200", "catalog-700"])(
  "%j is refused with the list of forms",
  (text) => expect(problem(text)).toContain("reset-after-N-bytes"),
);

test("a scope that makes no sense is refused", () => {
  expect(problem("refuse@a")).toContain("every connection");
  expect(problem("refuse:2")).toContain("every connection");
  expect(problem("catalog-500@a")).toContain("model list");
  expect(problem("hang%101")).toContain("100");
});
