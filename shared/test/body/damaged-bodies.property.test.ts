import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damaged } from "../../../test/harness/damaged.ts";
import { FormBody } from "../../src/body/form-body.ts";
import { readParameters } from "../../src/body/header-parameters.ts";
import { JsonBody } from "../../src/body/json-body.ts";
import { readPartHead } from "../../src/body/part-head.ts";
import type { BodyScanner } from "../../src/body/scanned-body.ts";
import { cuts, cut, scanForm, scanJson } from "./in-pieces.ts";

const escaped = (text: string) => `\\u${text.charCodeAt(0).toString(16).padStart(4, "0")}${text.slice(1)}`;
const spelled = fc
  .tuple(fc.constantFrom("model", "stream", "messages", "input", "system", "role", "x"), fc.boolean())
  .map(([name, isEscaped]) => `"${isEscaped ? escaped(name) : name}"`);
const number = fc.constantFrom("0", "-0", "1e5", "1E+5", "-1.5e-7", "1e999", "0.1", "123456789012345678901234567890");
const json = fc.oneof(
  number,
  fc.json({ maxDepth: 2 }),
  fc.constantFrom('"m"', "true", "null", '"\\ud800"', '"\\u00e9"', '[{"role":"assistant"},{"type":"reasoning"}]'),
);
const object = fc.array(fc.tuple(spelled, json), { maxLength: 6 }).map((members) => {
  return `{${members.map(([key, value]) => `${key}:${value}`).join(",")}}`;
});
const JSON_HINTS = ["{", "}", "[", "]", ":", ",", '\\"', "\\u00", "1e", "-", "tru", "nul", "/*", "\ufeff"];

/** Bytes from 0x80 on are legal within strings alone, as letters are: JSON.parse of a letter for each byte agrees. */
function isJsonObject(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString("latin1"));
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("a damaged JSON body", () => {
  it("is refused if it is none, and found to be what it is if it still is one, however it is cut", () => {
    fc.assert(
      fc.property(damaged(object, JSON_HINTS), cuts, (bytes, sizes) => {
        const scan = scanJson(bytes, sizes);
        const isJson = isJsonObject(bytes);
        const text = bytes.toString("latin1");
        const isTaken = isJson && depthOf(JSON.parse(text)) <= 200;
        expect(scan.ok || scan.param === "model").toBe(isTaken);
        const said = (scan.ok ? JSON.parse(bytes.toString("utf8")) : {}) as { model?: unknown; stream?: unknown };
        const found = scan.ok ? scan : { model: null, stream: null };
        expect(found.model).toBe(said.model ?? null);
        expect(found.stream).toBe(typeof said.stream === "boolean" ? said.stream : null);
      }),
      { numRuns: 300 },
    );
  });
});

const name = fc.constantFrom("model", "stream", "file", "x");
const partHead = fc
  .tuple(name, fc.constantFrom("", '; filename="a b"', "; x=1"), fc.constantFrom("", "X-A: b\r\n"))
  .map(([field, more, line]) => `${line}Content-Disposition: form-data; name="${field}"${more}\r\n\r\n`);
const form = fc
  .array(fc.tuple(partHead, fc.constantFrom("m", "true", "", "--b", "\r\n--", "a\r\nb")), { maxLength: 4 })
  .map((parts) => `${parts.map(([head, value]) => `--b\r\n${head}${value}\r\n`).join("")}--b--\r\n`);
const FORM_HINTS = [
  "--b",
  "--b--",
  "\r\n--b\r\n",
  "\r\n\r\n",
  ' name="model"',
  "; ",
  "filename*=",
  "content-",
  ":",
  "\r",
];

/** The values of `model` in a form, as the platform's own reader has them; null: it refuses the form. */
async function modelsOf(bytes: Buffer): Promise<string[] | null> {
  const answer = new Response(new Uint8Array(bytes), {
    headers: { "content-type": "multipart/form-data; boundary=b" },
  });
  const read = await answer.formData().catch(() => null);
  if (read === null) return null;
  return Promise.all(read.getAll("model").map(async (value) => (typeof value === "string" ? value : value.text())));
}

describe("a damaged form", () => {
  it("is never taken for another one than its worker takes it for, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          form.map((text) => Buffer.from(text)),
          damaged(form, FORM_HINTS),
        ),
        cuts,
        async (bytes, sizes) => {
          const scan = scanForm(bytes, "b", sizes);
          const models = await modelsOf(bytes);
          const found = scan.ok && models !== null ? [scan.model ?? []].flat() : models;
          expect(models).toEqual(found);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("has heads that are read or refused, and nothing else", () => {
    fc.assert(
      fc.property(damaged(partHead, FORM_HINTS), (bytes) => {
        const head = readPartHead(bytes.toString("latin1"));
        expect(typeof head === "string" || typeof head.isPlain === "boolean").toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

it("parameters of a header are what they were written as, or none are read", () => {
  const value = fc.string({ unit: "grapheme-ascii", maxLength: 12 });
  const written = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), value, { maxKeys: 4 });
  fc.assert(
    fc.property(written, (parameters) => {
      const quoted = Object.entries(parameters).map(([key, text]) => `; ${key}="${text.replace(/["\\]/g, "\\$&")}"`);
      expect(readParameters(`Form-Data${quoted.join("")}`)).toEqual({
        value: "form-data",
        parameters: new Map(Object.entries(parameters)),
      });
    }),
  );
});

describe("a body that was made to be slow", () => {
  const keys = (key: string, count: number) => `{${Array.from({ length: count }, () => `"${key}":1`).join(",")}}`;
  const head = `--b\r\nX: ${"a".repeat(8_000)}\r\n\r\nv\r\n`;
  const dashes = "-".repeat(200);
  const cases: [string, () => BodyScanner, string, number][] = [
    ["keys nearly as long as those that count", () => new JsonBody(), keys("streamy", 100_000), 1e9],
    ["turns with such keys", () => new JsonBody(), `{"messages":[${keys("roley", 100_000)}]}`, 1e9],
    ["one value of many pieces", () => new JsonBody(), `{"model":"${"x".repeat(60_000)}"}`, 1],
    ["numbers of many pieces", () => new JsonBody(), `{"input":[${"1,".repeat(60_000)}1]}`, 1],
    ["heads of many pieces", () => new FormBody("b"), `${head.repeat(10)}--b--`, 1],
    [
      "a model of many pieces",
      () => new FormBody("b"),
      `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${"x".repeat(60_000)}`,
      1,
    ],
    ["lines that nearly are its boundary", () => new FormBody(dashes), `\r\n--${"-".repeat(199)}`.repeat(40_000), 1e9],
    ["nothing but what its boundary is made of", () => new FormBody(dashes), "-".repeat(8_000_000), 65_536],
  ];
  it.each(cases)("takes the time that its bytes take: %s", (_, make, text, size) => {
    const bytes = Buffer.from(text);
    const started = performance.now();
    const scanner = make();
    for (const piece of cut(bytes, [size])) scanner.push(piece);
    scanner.finish();
    // Quadratic work takes minutes.
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it.each([
    ["semicolons", ";".repeat(30_000)],
    ["blanks", `a;${" ".repeat(30_000)}x`],
    ["letters without a value", `a;${"b".repeat(30_000)}`],
    ["a quote without an end", `a; b="${"\\".repeat(30_001)}`],
    ["quotes", '"'.repeat(30_000)],
  ])("so does a header of %s", (_, text) => {
    const started = performance.now();
    readParameters(text);
    readPartHead(`content-disposition: ${text}`);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
