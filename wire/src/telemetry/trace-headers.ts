const TRACE_HEADER = /^trace(parent|state)$/i;

/** Headers (flat) that tell of this span, in the place of what they told before. */
export function withTraceHeaders(headers: readonly string[], own: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (!TRACE_HEADER.test(name)) kept.push(name, headers[i + 1] ?? "");
  }
  kept.push(...own);
  return kept;
}

/** All values of a header, in their order. */
export function valuesOf(headers: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === name) values.push(headers[i + 1] ?? "");
  }
  return values;
}
