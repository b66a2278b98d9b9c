import { describe, expect, it } from "vitest";
import type { Api } from "../../src/apis.ts";
import { FormBody } from "../../src/body/form-body.ts";
import { JsonBody } from "../../src/body/json-body.ts";
import { foundIn, scannerFor } from "../../src/body/scanner-for.ts";

const form = "multipart/form-data; boundary=b";

function refusal(work: () => unknown): { message: string; code?: string; param?: string | null } {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("taken");
}

describe("a body is read", () => {
  it.each<[Api, string]>([
    ["chat", "application/json"],
    ["chat", "text/plain"],
    ["ollama-chat", "application/x-www-form-urlencoded"],
    ["image-edits", "application/json"],
    ["transcriptions", "Application/JSON; charset=utf-8"],
  ])("of %s as JSON when it is called %s", (api, contentType) => {
    expect(scannerFor(api, ["Content-Type", contentType])).toBeInstanceOf(JsonBody);
  });

  it("as JSON without a content-type, where the path takes JSON alone", () => {
    expect(scannerFor("chat", [])).toBeInstanceOf(JsonBody);
  });

  it.each([
    ["bare", "multipart/form-data; boundary=b"],
    ["quoted", 'multipart/form-data; boundary="b"'],
    ["in other letters, among others", 'Multipart/Form-Data;charset=utf-8; BOUNDARY="b" ; x=y'],
    ["with an escape", 'multipart/form-data; boundary="\\\\b"', "\\b"],
    ["with all that may stand there", `multipart/form-data; boundary="a'()+_,-./:=? b"`, "a'()+_,-./:=? b"],
  ])("as a form by its boundary, %s", (_, contentType, boundary = "b") => {
    const scanner = scannerFor("transcriptions", ["content-type", contentType]);
    expect(scanner).toBeInstanceOf(FormBody);
    const part = 'Content-Disposition: form-data; name="model"\r\n\r\nm';
    scanner.push(Buffer.from(`--${boundary}\r\n${part}\r\n--${boundary}--`));
    expect(foundIn(scanner.finish()).model).toBe("m");
  });
});

describe("a request is refused", () => {
  it.each<[string, Api, string[], RegExp]>([
    ["a form for JSON", "chat", ["content-type", form], /\/v1\/chat\/completions takes JSON, not a form/],
    ["text for a form", "transcriptions", ["content-type", "text/plain"], /takes a form .* not text\/plain/],
    ["a form of the other kind", "image-edits", ["content-type", "application/x-www-form-urlencoded"], /takes a form/],
    ["nothing said for a form", "translations", [], /has no content-type/],
    ["no boundary", "transcriptions", ["content-type", "multipart/form-data"], /no usable boundary/],
    ["an empty one", "transcriptions", ["content-type", 'multipart/form-data; boundary=""'], /no usable boundary/],
    ["two of them", "transcriptions", ["content-type", `${form}; boundary=c`], /no usable boundary/],
    ["an endless one", "transcriptions", ["content-type", `${form}${"b".repeat(200)}`], /no usable boundary/],
    ["one beyond ASCII", "transcriptions", ["content-type", `${form}\u00e9`], /no usable boundary/],
    ["two content-types", "transcriptions", ["content-type", form, "Content-Type", "text/plain"], /no usable boundary/],
  ])("that has %s", (_, api, headers, message) => {
    expect(refusal(() => scannerFor(api, headers))).toMatchObject({ code: "invalid_request", message });
  });

  it("for what was found in its body, and for its packing where it is packed", () => {
    const scan = { ok: false as const, message: "the body is empty", param: "model" };
    expect(refusal(() => foundIn(scan))).toMatchObject({
      code: "invalid_request",
      param: "model",
      message: /is empty\./,
    });
    expect(refusal(() => foundIn(scan, "gzip")).message).toMatch(/packed \(content-encoding: gzip\); send it unpacked/);
  });
});
