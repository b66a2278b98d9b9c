import { X509Certificate } from "node:crypto";
import { httpUrl, name, REGISTRATION_LEASE_MS, secret } from "@farmgate/shared";
import { z } from "zod";
import type { News, RegisteredWorker } from "../together/news.ts";

const patterns = z.array(z.string());
const instance = z.string().min(1).max(100);

const config = z.object({
  name,
  url: httpUrl,
  ca: z.string().refine(isCertificate).nullable(),
  engine: z.literal("agent"),
  weight: z.number().positive().nullable(),
  models: z.object({ allow: patterns, deny: patterns }),
  maxConcurrent: z.number().int().nonnegative(),
  apiKey: secret.nullable(),
  drainOnAbort: z.object({ bytes: z.number(), time: z.number() }),
});

const worker = z.object({
  config,
  instance,
  leaseMs: z.number().positive().max(REGISTRATION_LEASE_MS),
}) satisfies z.ZodType<RegisteredWorker>;

const news = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("registered"), worker }),
  z.object({ kind: z.literal("unregistered"), worker: name, instance }),
]) satisfies z.ZodType<News>;

/** News of registrations; null for what is not as it should be, and for other kinds. */
export function readRegistration(value: unknown): z.output<typeof news> | null {
  return news.safeParse(value).data ?? null;
}

/** The workers that an answer to `state` tells of; those that cannot be read are left out. */
export function readRegistered(answer: unknown): RegisteredWorker[] {
  const read = z.object({ registered: z.array(z.unknown()) }).safeParse(answer);
  if (!read.success) return [];
  return read.data.registered.flatMap((value) => worker.safeParse(value).data ?? []);
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).toString() === text;
  } catch {
    return false;
  }
}
