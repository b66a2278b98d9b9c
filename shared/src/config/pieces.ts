import { z } from "zod";
import { withoutLastSlashes } from "../request-target.ts";
import { parseDuration, parseSize } from "../units.ts";

/** `5s` in the file, milliseconds in the program. */
export const duration = z
  .union([z.string(), z.literal(0)], { error: "must be a duration such as 500ms, 5s or 10m" })
  .transform((value, context) => {
    const ms = parseDuration(String(value));
    if (ms !== null) return ms;
    context.addIssue({ code: "custom", message: "must be a duration such as 500ms, 5s or 10m" });
    return z.NEVER;
  });

/** `100mb` in the file, bytes in the program. */
export const size = z
  .union([z.string(), z.literal(0)], { error: "must be a size such as 512kb, 100mb or 24gb" })
  .transform((value, context) => {
    const bytes = parseSize(String(value));
    if (bytes !== null) return bytes;
    context.addIssue({ code: "custom", message: "must be a size such as 512kb, 100mb or 24gb" });
    return z.NEVER;
  });

/**
 * A whole number; a numeric string counts, so that `${PORT}` works. Not by `z.int`, whose issue ends all checks of the
 * whole configuration.
 */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  return z.preprocess(
    (value) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value),
    z.number({ error: "must be a whole number" }).superRefine((value, context) => {
      if (!Number.isSafeInteger(value)) context.addIssue("must be a whole number");
      else if (value < min) context.addIssue(`must be at least ${min}`);
      else if (value > max) context.addIssue(`must be at most ${max}`);
    }),
  );
}

/** A worker's or engine's address: http or https, no path beyond a prefix, no credentials inside. */
export const httpUrl = z.string().transform((value, context) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    context.addIssue({ code: "custom", message: "must be an http:// or https:// address" });
    return z.NEVER;
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    context.addIssue({ code: "custom", message: "must not hold credentials, a query or a fragment" });
    return z.NEVER;
  }
  return withoutLastSlashes(url.href);
});

/** A name of a worker, model or key: printable, no control characters. */
export const name = z
  .string()
  .min(1, "must not be empty")
  .max(200)
  .refine((value) => !/[\u0000-\u001f\u007f]/.test(value), "must not hold control characters");

/** Where a program listens. Port 0 takes a free one, which the log tells. */
export function listen(defaultPort: number) {
  return z
    .strictObject({ host: z.string().min(1).default("127.0.0.1"), port: wholeNumber(0, 65_535).default(defaultPort) })
    .prefault({});
}

/** A file with certificates or a key, named relative to the configuration. */
export const file = z.string().min(1, "must name a file");

/** What a listener shows for itself (contract section 2, `tls`): names of files with PEM. */
export const listenerTls = z.strictObject({ cert: file, key: file }).nullable().default(null);

/** A key as `Authorization: Bearer KEY` can carry it. A line's end that came along with it is the usual mistake. */
export const secret = z
  .string()
  .min(1, "must not be empty")
  .regex(/^[\x21-\x7e]*$/, "must be plain ASCII without blanks or line ends: it is sent in a header");

/** True for an address that only this machine reaches, also where it is an IPv4 one written as IPv6. */
export function isLoopback(host: string): boolean {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return bare === "localhost" || bare === "::1" || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(bare);
}

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "must be a header's name");
const headerText = z.string().regex(/^[\x20-\x7e]*$/, "must be plain ASCII without line ends: it is sent in a header");

/** Where traces go, by OTLP over HTTP; null: nowhere, and nothing of it is loaded. */
export const telemetry = z
  .strictObject({
    /** Without `/v1/traces`. */
    otlp: httpUrl,
    /** The share of traces that is kept; one that a caller began is kept if the caller keeps it. */
    sample: z.number().min(0, "must be at least 0").max(1, "must be at most 1").default(1),
    /** Sent with them, as the collector's key. */
    headers: z.record(headerName, headerText).default({}),
  })
  .nullable()
  .default(null);
export type TelemetrySettings = NonNullable<z.output<typeof telemetry>>;
