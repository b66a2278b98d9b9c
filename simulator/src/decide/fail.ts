/** What goes wrong. */
export type FailEffect =
  | { kind: "refuse" }
  | { kind: "hang" }
  | { kind: "reset"; afterBytes: number }
  | { kind: "loading" }
  | { kind: "slow"; factor: number }
  | { kind: "status"; status: number }
  | { kind: "catalog"; status: number }
  | { kind: "load-fails" };

/** One `--fail` argument: what goes wrong, and for whom. */
export interface FailForm {
  /** As it was written. */
  text: string;
  effect: FailEffect;
  /** Only requests for this model; null or `*`: for any. */
  model: string | null;
  /** Only the first N requests that it fits. */
  first: number | null;
  /** Only this share (0..1) of the requests that it fits. */
  chance: number | null;
}

const FORMS = "refuse, hang, reset-after-N-bytes, 503-loading, slow, slow-N, status-N, catalog-N or load-fails";

/**
 * `FORM[@MODEL][:N][%P]`, for example `hang`, `slow-20@coder`, `reset-after-512-bytes:1`, `status-500%30`.
 *
 * - `refuse`: no connection is accepted and the open ones are reset, as if the process were gone. Takes no scope.
 * - `hang`: the connection is accepted, an answer never comes.
 * - `reset-after-N-bytes`: the connection is reset after N bytes of an answer's body; 0: before its status line.
 * - `503-loading`: 503 "Loading model".
 * - `slow`, `slow-N`: 10 or N times as slow.
 * - `status-N`: an error with that status.
 * - `catalog-N`: only the model list answers with that status.
 * - `load-fails`: loading a model fails after its load time.
 *
 * A bare `hang` or `503-loading` fits every path; all else, and whatever has a scope, fits inference alone.
 * Model names may hold colons; the last `:digits` is always the count.
 */
export function parseFail(text: string): { form: FailForm } | { problem: string } {
  const match = /^([a-z0-9-]+)(?:@(.+?))?(?::(\d+))?(?:%(\d+(?:\.\d+)?))?$/.exec(text.trim());
  const effect = match?.[1] === undefined ? null : parseEffect(match[1]);
  if (match === null || effect === null) return { problem: `"${text}" is no failure: use ${FORMS}` };
  const [, , model = null, first, chance] = match;
  const form: FailForm = {
    text: text.trim(),
    effect,
    model,
    first: first === undefined ? null : Number(first),
    chance: chance === undefined ? null : Number(chance) / 100,
  };
  if (effect.kind === "refuse" && isScoped(form)) {
    return { problem: `"${text}": refuse concerns every connection and takes no model, count or share` };
  }
  if (effect.kind === "catalog" && model !== null) return { problem: `"${text}": the model list is not of one model` };
  if (form.chance !== null && form.chance > 1) return { problem: `"${text}": a share is at most 100` };
  return { form };
}

/** True for a form that fits only some of the requests. */
export function isScoped(form: FailForm): boolean {
  return form.model !== null || form.first !== null || form.chance !== null;
}

function parseEffect(word: string): FailEffect | null {
  if (word === "refuse" || word === "hang" || word === "load-fails") return { kind: word };
  if (word === "503-loading") return { kind: "loading" };
  if (word === "slow") return { kind: "slow", factor: 10 };
  const [, name, digits] = /^(reset-after|slow|status|catalog)-(\d{1,9})(?:-bytes)?$/.exec(word) ?? [];
  const number = Number(digits);
  if (name === "reset-after" && word.endsWith("-bytes")) return { kind: "reset", afterBytes: number };
  if (name === undefined || word.endsWith("-bytes")) return null;
  if (name === "slow") return number >= 1 ? { kind: "slow", factor: number } : null;
  if (number < 400 || number > 599) return null;
  return name === "status" ? { kind: "status", status: number } : { kind: "catalog", status: number };
}
