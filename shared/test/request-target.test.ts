import { describe, expect, it } from "vitest";
import { originForm, pathOf, withoutKeys } from "../src/request-target.ts";

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

  it.each([
    ["/v1/realtime?model=m&api_key=secret", "/v1/realtime?model=m"],
    ["/v1/chat/completions?key=secret", "/v1/chat/completions"],
    ["/x?a=1&api-key=s&b=%20&Access_Token=t&token=u&apikey", "/x?a=1&b=%20"],
    ["/x?%6bey=secret&model=a%2Fb", "/x?model=a%2Fb"],
    ["/x?monkey=1&tokens=2&a=key", "/x?monkey=1&tokens=2&a=key"],
    ["/x?%=1&&", "/x?%=1&&"],
    ["/x?", "/x?"],
    ["/x", "/x"],
  ])("%s is %s without the keys in its query", (target, expected) => {
    expect(withoutKeys(target)).toBe(expected);
  });
});
