import { expect, it } from "vitest";
import { valuesOf, withTraceHeaders } from "../../src/telemetry/trace-headers.ts";

it("a span takes the place of what the headers told before, however it was spelled, and of nothing else", () => {
  const headers = ["A", "1", "TraceParent", "old", "tracestate", "x=1", "tracestate", "y=2", "traceparents", "z"];
  expect(withTraceHeaders(headers, ["traceparent", "new"])).toEqual([
    "A",
    "1",
    "traceparents",
    "z",
    "traceparent",
    "new",
  ]);
});

it("a header's values are all told, in their order", () => {
  expect(valuesOf(["Tracestate", "x=1", "a", "b", "tracestate", "y=2"], "tracestate")).toEqual(["x=1", "y=2"]);
});
