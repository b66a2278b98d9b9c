import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { describe, expect, it } from "vitest";
import type { Log } from "../../src/log.ts";
import { ToldExporter } from "../../src/telemetry/told-exporter.ts";

function rig() {
  const lines: string[] = [];
  const note = (_fields: object, text: string) => lines.push(text);
  const log = { warn: note, info: note } as unknown as Log;
  let result: ExportResult = { code: ExportResultCode.SUCCESS };
  const exporter = { export: (_: unknown, done: (r: ExportResult) => void) => done(result), shutdown: async () => {} };
  const told = new ToldExporter(exporter, "http://collector", log);
  const send = (next: ExportResult) => {
    result = next;
    let seen: ExportResult | null = null;
    told.export([], (end) => {
      seen = end;
    });
    expect(seen).toBe(next);
  };
  return { lines, send };
}

describe("a collector that is away", () => {
  it("is told of once, and once when it is back", () => {
    const { lines, send } = rig();
    const failed = { code: ExportResultCode.FAILED, error: new Error("connect ECONNREFUSED") };
    send({ code: ExportResultCode.SUCCESS });
    for (let i = 0; i < 5; i += 1) send(failed);
    for (let i = 0; i < 5; i += 1) send({ code: ExportResultCode.SUCCESS });
    send(failed);
    const away = "http://collector takes no traces: they are lost until it does";
    expect(lines).toEqual([away, "http://collector takes traces again", away]);
  });
});
