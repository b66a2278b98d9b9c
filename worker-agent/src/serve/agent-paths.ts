import { type Api, API_NAMES, apiForm } from "@farmgate/shared";

/** Those too that no caller of a gateway asks for: a gateway puts questions to some engines in their own way. */
const BY_PATH: ReadonlyMap<string, Api> = new Map(API_NAMES.map((api) => [apiForm(api).path, api]));

/** What is asked for at an inference path (without query); null: no such path. */
export function askedApi(path: string): Api | null {
  return BY_PATH.get(path) ?? null;
}
