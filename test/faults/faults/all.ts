import { connections } from "./connections.ts";
import { cuts } from "./cuts.ts";
import type { Fault } from "./fault.ts";
import { nonsense } from "./nonsense.ts";
import { pace } from "./pace.ts";

/** Every way in which a worker of this harness misbehaves. */
export const workerFaults: readonly Fault[] = [...connections, ...cuts, ...nonsense, ...pace];
