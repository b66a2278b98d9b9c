import { tooManyAMinute, tooManyAtOnce } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import type { Call } from "../proxy/call.ts";
import type { Claimed, KeyLimits } from "../together/hub.ts";
import { afterOneOf } from "./come-again.ts";
import { askHub, whileWanted } from "./ask-hub.ts";

/** What a claim has to ask for the caller's key; null: it has no limits, or the request has its place already. */
export function keyToClaim({ caller, leaveKey }: Call): KeyLimits | null {
  if (leaveKey !== null || caller.key === null) return null;
  const { name, maxConcurrent, requestsPerMinute } = caller.key;
  return maxConcurrent === 0 && requestsPerMinute === 0 ? null : { name, maxConcurrent, requestsPerMinute };
}

/** The key's place is taken by what is known here. */
export function takeKeyUnclaimed({ inflight }: Farm, call: Call): void {
  const key = keyToClaim(call);
  if (key !== null) call.leaveKey = inflight.enterCaller(key.name, false);
}

/**
 * Claims the place of the request among those of its key, for who needs no other yet; null: nothing has to be claimed.
 * Rejects with `rate_limited`, and with what ended the request meanwhile.
 */
export function claimKey(farm: Farm, call: Call): Promise<void> | null {
  if (!farm.hub.isShared) return null;
  const caller = keyToClaim(call);
  if (caller === null) return null;
  if (farm.hub.trouble !== null) {
    takeKeyUnclaimed(farm, call);
    return null;
  }
  return whileWanted(call, async (isWanted) => {
    const claimed = await askHub(farm, { key: "", places: [], take: "first", caller });
    if (isWanted()) settleKey(farm, call, caller, claimed);
    else giveKeyBack(farm, caller, claimed);
  });
}

/** What a claim says of the key, for the request itself and for who comes next with it. Throws `rate_limited`. */
export function settleKey(farm: Farm, call: Call, asked: KeyLimits | null, claimed: Claimed): void {
  const { key } = call.caller;
  if (asked === null || key === null) return;
  const { keys, inflight, clock } = farm;
  const now = clock.now();
  const tell = () => call.tellLimit(keys.limitHeaders(call.caller, now));
  switch (claimed.kind) {
    case "taken":
    case "full":
      call.leaveKey = inflight.enterCaller(asked.name, true);
      if (claimed.allowance === null) return;
      keys.spentByAll(asked.name, now, claimed.allowance.resetMs);
      return tell();
    case "alone":
      return takeKeyUnclaimed(farm, call);
    case "limited": {
      if (claimed.by === "concurrent") keys.giveBack(key);
      else keys.refusedByAll(key, now, claimed.retryMs ?? 0);
      tell();
      if (claimed.by === "rate") throw tooManyAMinute(key, (claimed.retryMs ?? 0) / 1_000);
      const retryMs = claimed.retryMs ?? 1_000 * afterOneOf(farm, asked.maxConcurrent);
      throw tooManyAtOnce(key, retryMs / 1_000);
    }
  }
}

/** Nobody wants the key's place that a claim may have taken. */
export function giveKeyBack({ hub }: Farm, asked: KeyLimits | null, { kind }: Claimed): void {
  if (asked !== null && (kind === "taken" || kind === "full")) hub.counted(null, asked.name);
}
