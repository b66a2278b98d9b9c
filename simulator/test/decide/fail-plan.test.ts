import { seededRandom } from "@farmgate/shared";
import { expect, test } from "vitest";
import { parseFail } from "../../src/decide/fail.ts";
import { FailPlan } from "../../src/decide/fail-plan.ts";

const plan = (...texts: string[]) =>
  new FailPlan(
    texts.flatMap((text) => {
      const parsed = parseFail(text);
      return "form" in parsed ? [parsed.form] : [];
    }),
    seededRandom(7),
  );

test("a bare hang concerns every path, a scoped one inference alone", () => {
  expect(plan("hang").forAnyPath().hang).toBe(true);
  expect(plan("hang@*").forAnyPath().hang).toBe(false);
  expect(plan("hang@*").forInference("m").hang).toBe(true);
});

test("a form for one model leaves the others alone", () => {
  const fails = plan("status-500@a");
  expect(fails.forInference("a").status).toBe(500);
  expect(fails.forInference("b").status).toBeNull();
});

test("the first N requests that fit count, others do not use them up", () => {
  const fails = plan("reset-after-9-bytes@a:2");
  fails.forInference("b");
  fails.forAnyPath();
  const hits = [1, 2, 3, 4].map(() => fails.forInference("a").resetAfter);
  expect(hits).toEqual([9, 9, null, null]);
});

test("a share fits about that many requests, in a repeatable order", () => {
  const hits = (fails: FailPlan) => Array.from({ length: 1_000 }, () => fails.forInference("m").status);
  const first = hits(plan("status-500%30"));
  expect(first).toEqual(hits(plan("status-500%30")));
  const count = first.filter((status) => status === 500).length;
  expect(count).toBeGreaterThan(200);
  expect(count).toBeLessThan(400);
});

test("forms add up", () => {
  expect(plan("slow-2", "slow-3", "reset-after-5-bytes").forInference("m")).toMatchObject({ slow: 6, resetAfter: 5 });
});

test("the model list and loads have forms of their own", () => {
  const fails = plan("catalog-500:1", "load-fails@bad");
  expect(fails.forCatalog()).toBe(500);
  expect(fails.forCatalog()).toBeNull();
  expect(fails.forLoad("bad")).toBe(true);
  expect(fails.forLoad("good")).toBe(false);
  expect(fails.forInference("bad")).toMatchObject({ hang: false, loading: false, status: null });
});
