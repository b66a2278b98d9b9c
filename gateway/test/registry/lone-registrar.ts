import type { Clock } from "@farmgate/shared";
import { createLog } from "@farmgate/wire";
import type { WorkerConfig } from "../../src/catalog/types.ts";
import { addressesOf } from "../../src/registry/lookups.ts";
import { Registrar } from "../../src/registry/registrar.ts";

/** A gateway's registrar that tells nobody; `ask` says why a worker is not taken in, null: it is. */
export function loneRegistrar(clock: Clock, ask: (config: WorkerConfig) => Promise<string | null>): Registrar {
  return new Registrar({
    clock,
    log: createLog("gateway", "silent"),
    hub: { tell: () => {}, onNews: () => () => {} },
    inFile: () => new Set(),
    isSibling: () => false,
    isFileHost: () => false,
    addressesOf,
    ask,
  });
}
