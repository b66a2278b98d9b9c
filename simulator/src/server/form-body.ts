import { createHash } from "node:crypto";
import type { Body } from "../decide/answer-plan.ts";
import type { FormFile } from "../decide/transcript.ts";

/** The parts of a form by their names, files as their digests; null for what is no form. */
export async function readForm(bytes: Buffer, contentType: string): Promise<Body | null> {
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } })
    .formData()
    .catch(() => null);
  if (form === null) return null;
  const body: Record<string, string | FormFile | FormFile[]> = {};
  for (const [name, value] of form) {
    if (typeof value === "string") {
      body[name] = value;
      continue;
    }
    const digest = createHash("sha256")
      .update(Buffer.from(await value.arrayBuffer()))
      .digest("hex");
    const file = { name: value.name, size: value.size, digest };
    const before = body[name];
    body[name] = Array.isArray(before) ? [...before, file] : typeof before === "object" ? [before, file] : file;
  }
  return body;
}
