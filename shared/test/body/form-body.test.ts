import { describe, expect, it } from "vitest";
import { replaceModel, type ScannedBody } from "../../src/body/scanned-body.ts";
import { bodyOf, mustFind, refusalIn, scanForm } from "./in-pieces.ts";

const B = "xYzZy";

/** A form of these parts, each its head (without the name of the header that they all have) and its value. */
function form(...parts: (readonly [disposition: string, value: string])[]): string {
  const lines = parts.map(
    ([disposition, value]) => `--${B}\r\nContent-Disposition: ${disposition}\r\n\r\n${value}\r\n`,
  );
  return `${lines.join("")}--${B}--\r\n`;
}

const model = ['form-data; name="model"', "whisper-1"] as const;
const file = ['form-data; name="file"; filename="a;name=model.wav"', "RIFF\r\n\r\n--\0\xff"] as const;

const scan = (text: string): ScannedBody => mustFind(scanForm(Buffer.from(text, "latin1"), B));
const refusal = (text: string) => refusalIn(scanForm(Buffer.from(text, "latin1"), B));
const spanOf = (text: string) => {
  const { start, end } = scan(text).modelPlace.span;
  return Buffer.from(text, "latin1").toString("latin1", start, end);
};

describe("a form", () => {
  it.each([
    ["before the file", form(model, file)],
    ["behind the file", form(file, model)],
    ["between files", form(file, model, file)],
  ])("has its model %s", (_, text) => {
    expect(scan(text)).toMatchObject({ model: "whisper-1", stream: null, messages: null });
    expect(spanOf(text)).toBe("whisper-1");
  });

  it.each<[string, string, null?]>([
    ["quoted", 'form-data; name="model"'],
    ["bare", "form-data; name=model"],
    ["in other letters, with spaces", 'Form-Data ;  NAME = "model" ;'],
    ["behind other parameters", 'form-data; filename="\\"; name=\\"x"; name="model"'],
    ["with an escape", 'form-data; name="mod\\el"; x="\\\\"', null],
    ["on a line of its own", 'form-data;\r\n\tname="model"'],
    ["in capitals", 'form-data; name="Model"', null],
    ["as the name of a file only", 'form-data; name="file"; filename="model"', null],
    ["as a part of another name", 'form-data; name="x.model"', null],
    ["nowhere", "form-data", null],
  ])("finds a name %s", (_, disposition, found) => {
    expect(scan(form(file, [disposition, "whisper-1"])).model).toBe(found === null ? null : "whisper-1");
  });

  it("reads its other headers in any order", () => {
    const head =
      'content-type: text/plain\r\nCONTENT-DISPOSITION: form-data; name="model"\r\nContent-Transfer-Encoding: 8bit';
    expect(scan(`--${B}\r\n${head}\r\n\r\nm\r\n--${B}--`).model).toBe("m");
  });

  it("has a preamble, an epilogue and white space behind its boundaries, which mean nothing", () => {
    const text = `This is a form.\r\n${form(model).replaceAll(`${B}\r\n`, `${B} \t\r\n`)}the end\r\n${form(model)}`;
    expect(scan(text).model).toBe("whisper-1");
    expect(spanOf(text)).toBe("whisper-1");
    expect(scan(`\r\n${form(model)}`).model).toBe("whisper-1");
  });

  it.each([
    ["the boundary inside a line", `x--${B}\r\n`],
    ["the boundary behind LF alone", `\n--${B}\r\n`],
    ["the boundary with more behind it", `\r\n--${B}Z\r\n\r\n--${B} Z\r\n\r\n--${B}-\r\n`],
    ["half a boundary, over and over", `\r\n--${B.slice(0, 3)}\r\n--\r\r\n\r\n--xYz`],
    ["a boundary whose line does not end", `\r\n--${B}\r\r\n--${B}\n`],
    ["a boundary with half a line's end", `\r\n--${B}\r`],
    ["a boundary with half a line's end behind white space", `\r\n--${B} \r`],
    ["white space without end behind a boundary", `\r\n--${B}${" ".repeat(200)}\r\n`],
    ["nothing", ""],
  ])("takes for a file's own bytes: %s", (_, value) => {
    const own = `${value}m${value}`;
    const text = form(['form-data; name="file"', `${value}name="model"${value}`], ["form-data; name=model", own]);
    expect(scan(text).model).toBe(own);
    expect(spanOf(text)).toBe(own);
  });

  it.each([
    ["true", true],
    ["True", true],
    ["1", true],
    ["false", false],
    ["0", false],
    ["", null],
    ["yes, please", null],
    [`true${" ".repeat(3_000)}`, null],
  ])("says by `stream` %j whether it wants one", (value, found) => {
    expect(scan(form(["form-data; name=stream", value], file, model)).stream).toBe(found);
  });

  it("is read as the platform writes it", async () => {
    const data = new FormData();
    data.append("file", new Blob(["\r\n--", "x".repeat(5_000)]), 'odd "name"\r\n.wav');
    data.append("model", "modèle");
    data.append("stream", "true");
    const { headers, bytes } = await new Response(data).blob().then(async (blob) => {
      return { headers: blob.type, bytes: Buffer.from(await blob.arrayBuffer()) };
    });
    const boundary = headers.split("boundary=")[1] ?? "";
    expect(scanForm(bytes, boundary)).toMatchObject({ ok: true, model: "modèle", stream: true });
  });
});

describe("a form is refused", () => {
  it.each([
    ["empty", "", /it is empty/],
    ["without its boundary", "--other\r\n", /boundary of its content-type is not in it/],
    ["with LF for CRLF", form(model).replaceAll("\r\n", "\n"), /boundary of its content-type is not in it/],
    ["cut off in a value", form(model).slice(0, -12), /its last boundary is missing/],
    ["cut off before its last dash", form(model).slice(0, -3), /its last boundary is missing/],
    ["cut off in a head", form(model).slice(0, 30), /its last boundary is missing/],
    ["with a head that never ends", form([`form-data; x="${"y".repeat(9_000)}"`, ""]), /head is over 8192 bytes/],
    ["with an endless head", `--${B}\r\n${"x: y\r\n".repeat(5_000)}`, /head is over 8192 bytes/],
    [
      "of too many parts",
      form(...Array.from({ length: 1_001 }, () => ["form-data; name=a", ""] as const)),
      /1000 parts/,
    ],
    ["with a line that has no colon", form(["form-data\r\nx", ""]), /no colon/],
    ["with half a line's end", form(["form-data; name=a\nContent-Disposition: form-data; name=model", ""]), /CRLF/],
    ["with two dispositions", form(["form-data\r\nContent-Disposition: form-data", ""]), /two Content-Disp/],
    ["with a parameter twice", form(["form-data; name=a; name=model", ""]), /malformed/],
    ["with a quote left open", form(['form-data; name="model', ""]), /malformed/],
    ["with an encoded name", form(["form-data; name*=utf-8''model", ""]), /write `name`/],
    ["with a name in pieces", form(["form-data; name*0=mo; name*1=del", ""]), /write `name`/],
    ["with a boundary right behind a head", `--${B}\r\na: b\r\n\r\n--${B}\r\n`, /without an empty line/],
    ["with a model in base64", form(["form-data; name=model\r\nContent-Transfer-Encoding: base64", "bQ=="]), /plain/],
  ])("%s", (_, text, message) => {
    expect(refusal(text)).toEqual({ message: expect.stringMatching(message), param: null });
  });

  it.each([
    ["with two models", form(model, file, model), /two parts `model`/],
    ["with an empty one", form(["form-data; name=model", ""]), /must not be empty/],
    ["with one that is too long", form(["form-data; name=model", "x".repeat(501)]), /longer than 500/],
    ["with a file for one", form(["form-data; name=model", "x".repeat(100_000)]), /longer than 500/],
  ])("%s, and the field is named", (_, text, message) => {
    expect(refusal(text)).toEqual({ message: expect.stringMatching(message), param: "model" });
  });

  it("at once, whatever still comes", () => {
    const text = form(["form-data; name*=x", ""]);
    expect(refusal(text + form(model))).toEqual(refusal(text));
  });
});

describe("the model of a form", () => {
  const written = (text: string, name: string) => {
    const body = bodyOf(Buffer.from(text, "latin1"));
    return replaceModel(body, scan(text), name).joined().toString("latin1");
  };

  it("is replaced where it stands, and no other byte is", () => {
    const text = `preamble\r\n${form(file, model, file)}epilogue`;
    expect(written(text, "large")).toBe(text.replace("whisper-1", "large"));
    expect(written(text, "whisper-1")).toBe(text);
  });

  it("is put before all parts where none is named", () => {
    const part = `--${B}\r\nContent-Disposition: form-data; name="model"\r\n\r\nlarge\r\n`;
    expect(scan(form(file)).model).toBeNull();
    expect(written(form(file), "large")).toBe(part + form(file));
    const behind = written(`preamble\r\n${form(file)}`, "large");
    expect(behind).toBe(`preamble\r\n${part}${form(file)}`);
    expect(scan(behind).model).toBe("large");
    expect(scan(written(form(), "large")).model).toBe("large");
  });
});
