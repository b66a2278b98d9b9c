import type { Claimed, Hub, Lease, OthersView } from "./hub.ts";

const NOBODY: ReadonlyMap<string, number> = new Map();

const NO_OTHERS: OthersView = { worker: () => 0, pair: () => 0, pairs: () => NOBODY, caller: () => 0 };

const nothing = () => {};

/** The hub of a gateway that is the only one: nobody is told or asked anything, and every lease is its own. */
export function alone(id: string): Hub {
  return {
    id,
    isShared: false,
    claimsAll: false,
    trouble: null,
    members: () => [id],
    others: NO_OTHERS,
    start: () => Promise.resolve(),
    onChange: () => nothing,
    claim: (): Promise<Claimed> => Promise.resolve({ kind: "alone" }),
    counted: nothing,
    tell: nothing,
    onNews: () => nothing,
    ask: () => Promise.resolve(new Map()),
    onQuestion: () => nothing,
    lease: (): Lease => ({
      fence: 0,
      onChange: nothing,
      confirm: () => Promise.resolve(true),
      release: () => Promise.resolve(),
    }),
    close: () => Promise.resolve(),
  };
}
