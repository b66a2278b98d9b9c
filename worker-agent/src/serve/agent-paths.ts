import { apiForm, inferenceApi } from "@farmgate/shared";

/** How the body of an inference path (without query) is to be read; null: no inference path. */
export function inferenceBody(path: string): "json" | "form" | "none" | null {
  const api = inferenceApi(path);
  return api === null ? null : apiForm(api).body;
}
