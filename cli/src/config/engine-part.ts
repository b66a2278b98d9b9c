import { usageError } from "../exit-code.ts";
import { byName } from "./by-name.ts";
import { checkFarm, type FarmEngine } from "./farm-schema.ts";
import { checked, type OpenedConfig } from "./open-config.ts";

/** The simulated engine called `name` of a farm file (which needs no name when it has one engine). */
export function enginePart(opened: OpenedConfig, name: string | null): FarmEngine {
  if (opened.kind !== "farm") throw usageError(`${opened.shown} is no farm file: only a farm file lists engines`);
  return byName(checked(opened, checkFarm(opened.document)).engines, name, "engine", opened.shown);
}
