import { describe, expect, it } from "vitest";
import { originForm, pathOf } from "../src/request-target.ts";

describe("a request target", () => {
  it.each([
    ["/v1/models?x=/y", "/v1/models"],
    ["/", "/"],
    ["?", ""],
  ])("%s has the path %s", (target, path) => {
    expect(pathOf(target)).toBe(path);
  });

  it.each([
    ["http://host:8400/v1/models?x=1", "/v1/models?x=1"],
    ["HTTPS://host", "/"],
    ["http://host?x=1", "/?x=1"],
    ["/v1/models", "/v1/models"],
    ["/http://host/", "/http://host/"],
    ["*", "*"],
  ])("%s is %s below its server", (target, expected) => {
    expect(originForm(target)).toBe(expected);
  });
});
