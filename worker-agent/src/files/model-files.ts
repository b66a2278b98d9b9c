import type { AgentConfig } from "../config.ts";

/** A file that a model's engine reads, below the folder of models. */
export interface ModelFile {
  path: string;
  /** In hex; null: whatever the first peer that has the file says of it. */
  sha256: string | null;
  /** The configured models that need it. */
  models: readonly string[];
}

/** The files of all configured models, each once. */
export function modelFilesOf({ models }: Pick<AgentConfig, "models">): readonly ModelFile[] {
  const files = new Map<string, ModelFile>();
  for (const { name, files: needed } of models) {
    for (const { path, sha256 } of needed) {
      const known = files.get(path);
      files.set(path, { path, sha256: known?.sha256 ?? sha256, models: [...(known?.models ?? []), name] });
    }
  }
  return [...files.values()];
}
