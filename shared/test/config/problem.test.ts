import { expect, it } from "vitest";
import { formatProblem } from "../../src/config/problem.ts";

it("tells a problem with its place, and nothing of the file can move the cursor of a terminal", () => {
  const problem = { path: "a.b", line: 3, message: "is wrong" };
  expect(formatProblem(problem, "x.yaml")).toBe("x.yaml:3: a.b: is wrong");
  expect(formatProblem({ path: "", line: null, message: "no such file" }, "x.yaml")).toBe("x.yaml: no such file");
  const hostile = { path: "\u001b[2Jkey\nx", line: 1, message: '"\r\u009b31m" already names y' };
  expect(formatProblem(hostile, "x.yaml")).toBe('x.yaml:1: ?[2Jkey?x: "??31m" already names y');
});
