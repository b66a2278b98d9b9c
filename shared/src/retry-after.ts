/** Where nothing has ended lately, so that nobody can tell, in seconds. */
const UNKNOWN_S = 5;
/** Nobody is sent away for longer than this, in seconds: what is under way may end any time. */
const LONGEST_S = 60;
/** Those who are refused in one instant come back by up to this share earlier or later. */
const SPREAD = 0.25;

/**
 * When a refused request is to come again, in whole seconds from 1 to 60: once `ahead` others have had their turn, of
 * which `perSecond` have theirs; null or 0: not known. `random`, from 0 to 1, is where in the spread this one stands.
 */
export function retryAfter(ahead: number, perSecond: number | null, random: number): number {
  const isKnown = perSecond !== null && perSecond > 0;
  const seconds = Math.min(isKnown ? ahead / perSecond : UNKNOWN_S, LONGEST_S / (1 + SPREAD));
  return Math.max(1, Math.ceil(seconds * (1 + SPREAD * (2 * random - 1))));
}
