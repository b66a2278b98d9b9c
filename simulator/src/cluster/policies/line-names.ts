import type { Role } from "../types.ts";

/** What a name of the pools stands for in the cluster. */
export interface Served {
  app: number;
  role: Role;
}

/** The pools' name for an application; `part`: one of several replicas that carry it together in the stable pool. */
export function modelName(app: number, part = 0): string {
  return part === 0 ? String(app) : `${app}#${part}`;
}

export function lineName(app: number, role: "prefill" | "decode"): string {
  return `${app}.${role}`;
}

export function servedBy(name: string): Served {
  const app = Number.parseInt(name, 10);
  if (name.endsWith(".prefill")) return { app, role: "prefill" };
  return { app, role: name.endsWith(".decode") ? "decode" : "both" };
}
