import type { Caller } from "@farmgate/wire";

/** Whether the caller may change the farm and touch others' requests. */
export function isAdmin(caller: Caller): boolean {
  return caller.key === null || caller.key.admin;
}

/** The models that the caller may ask for, as patterns. */
export function allowedModels(caller: Caller): readonly string[] {
  return caller.key?.models ?? EVERY_MODEL;
}

const EVERY_MODEL = ["*"];
