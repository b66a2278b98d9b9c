import { z } from "zod";
import { httpUrl, name, secret, wholeNumber } from "../config/pieces.ts";

/** A registered worker is out of the farm when it has not renewed for so long, in milliseconds. */
export const REGISTRATION_LEASE_MS = 30_000;

const patterns = z.array(z.string().min(1).max(300)).max(1_000);

/**
 * What an agent sends at `POST /farm/register`, first and to renew. Unknown fields are ignored, so that a newer agent gets
 * in. A text in the place of a number, and the other liberties of a file, are taken as well.
 */
export const registrationSchema = z.object({
  /** Of the worker; unique in the farm. */
  name,
  /** Where the gateway reaches it; null: at the address that this comes from, and `port`. */
  url: httpUrl.nullish().transform(orNull),
  port: wholeNumber(1, 65_535),
  /** It listens by HTTPS; of no meaning with a `url`. */
  tls: z.boolean().default(false),
  /** The certificate that it shows, as PEM; null: the gateway trusts whom its machine trusts. */
  certificate: z.string().max(32_768).nullish().transform(orNull),
  engine: z.literal("agent", { error: 'must be "agent": only agents register' }),
  weight: z.number().positive().max(1_000_000).nullish().transform(orNull),
  /** 0: no cap. */
  maxConcurrent: wholeNumber(0).default(0),
  models: z.object({ allow: patterns.default(["*"]), deny: patterns.default([]) }).prefault({}),
  /** What the gateway is to send along; null: nothing. */
  key: secret.max(500).nullish().transform(orNull),
  version: z.string().max(100),
  /** Of this run of the agent alone; who knows it may renew and leave. */
  instance: z.string().regex(/^[\w-]{8,100}$/, "must be 8 to 100 letters, digits, _ or -"),
});
export type Registration = z.output<typeof registrationSchema>;

/** What the gateway answers. */
export const registeredSchema = z.object({
  name: z.string(),
  /** The registration holds for so long, in milliseconds. */
  leaseMs: z.number().positive(),
});
export type Registered = z.output<typeof registeredSchema>;

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null;
}
