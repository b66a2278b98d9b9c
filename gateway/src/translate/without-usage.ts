import type { Translated } from "./translation.ts";

/**
 * Whether a worker refuses a question only because usage is asked for along with it (`stream_options`), which was the
 * translation's wish and not the caller's. Some servers that speak chat do not know that option.
 */
export function refusesUsage(
  translated: Translated | null,
  { status, body }: { status: number; body: string },
): boolean {
  return asksForUsage(translated) && isRefusal(status) && /stream_options|include_usage/.test(body);
}

/**
 * The same question without that wish, after a try that failed with `status`, or with no answer (null); null: it did not
 * fail by that.
 */
export function withoutUsage(translated: Translated | null, status: number | null): Translated | null {
  if (status === null || !isRefusal(status) || !asksForUsage(translated)) return null;
  const { stream_options: _wish, ...body } = translated.body;
  return { ...translated, body };
}

function asksForUsage(translated: Translated | null): translated is Translated {
  return translated?.body["stream_options"] !== undefined;
}

function isRefusal(status: number): boolean {
  return status === 400 || status === 422;
}
