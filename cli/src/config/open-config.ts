import { ConfigError, type Environment, loadConfigFile, type LoadedFile, type ParsedConfig } from "@farmgate/shared";
import { type ConfigKind, configKind } from "./config-kind.ts";

export interface OpenedConfig extends LoadedFile {
  /** As the user wrote it, for messages. */
  shown: string;
  kind: ConfigKind;
}

/** Reads a file and tells its kind. Throws a ConfigError where there is nothing to look at: no file, no valid YAML. */
export async function openConfig(file: string, env: Environment): Promise<OpenedConfig> {
  const loaded = await loadConfigFile(file, env);
  const { value, problems } = loaded.document;
  if (value === undefined && problems.length > 0) throw new ConfigError(file, problems);
  return { ...loaded, shown: file, kind: configKind(value) };
}

/** The checked value, or a ConfigError with every problem. */
export function checked<T>(opened: OpenedConfig, result: ParsedConfig<T>): T {
  if (result.ok) return result.value;
  throw new ConfigError(opened.shown, result.problems);
}
