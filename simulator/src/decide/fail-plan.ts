import type { Random } from "@farmgate/shared";
import { type FailForm, isScoped } from "./fail.ts";

/** What goes wrong with one request. */
export interface Ailments {
  hang: boolean;
  /** 503 "Loading model". */
  loading: boolean;
  /** The error status to answer with, or null. */
  status: number | null;
  /** Bytes of body after which the connection is reset, or null. */
  resetAfter: number | null;
  /** All times are multiplied by this. */
  slow: number;
}

/** Which failure forms fit which request; counts the "first N" ones down. */
export class FailPlan {
  readonly refusesConnections: boolean;
  readonly #rules: { form: FailForm; left: number }[];
  readonly #random: Random;

  constructor(forms: readonly FailForm[], random: Random) {
    this.#rules = forms.map((form) => ({ form, left: form.first ?? Number.POSITIVE_INFINITY }));
    this.#random = random;
    this.refusesConnections = forms.some((form) => form.effect.kind === "refuse");
  }

  /** For a request of any path, before its body is looked at: only the bare forms that concern all of them. */
  forAnyPath(): Ailments {
    return this.#collect((form) => !isScoped(form) && isOfEveryPath(form));
  }

  /** For an inference request that names a known model. */
  forInference(model: string): Ailments {
    return this.#collect((form) => fitsModel(form, model) && !(isOfEveryPath(form) && !isScoped(form)));
  }

  /** The error status for a request of the model list, or null. */
  forCatalog(): number | null {
    let status: number | null = null;
    this.#take((form) => {
      if (form.effect.kind !== "catalog") return false;
      status = form.effect.status;
      return true;
    });
    return status;
  }

  /** True when this load of a model fails. */
  forLoad(model: string): boolean {
    let fails = false;
    this.#take((form) => {
      const fits = form.effect.kind === "load-fails" && fitsModel(form, model);
      fails ||= fits;
      return fits;
    });
    return fails;
  }

  #collect(fits: (form: FailForm) => boolean): Ailments {
    const ailments: Ailments = { hang: false, loading: false, status: null, resetAfter: null, slow: 1 };
    this.#take((form) => {
      if (!fits(form)) return false;
      const { effect } = form;
      if (effect.kind === "hang") ailments.hang = true;
      else if (effect.kind === "loading") ailments.loading = true;
      else if (effect.kind === "status") ailments.status ??= effect.status;
      else if (effect.kind === "reset") ailments.resetAfter ??= effect.afterBytes;
      else if (effect.kind === "slow") ailments.slow *= effect.factor;
      else return false;
      return true;
    });
    return ailments;
  }

  #take(apply: (form: FailForm) => boolean): void {
    for (const rule of this.#rules) {
      if (rule.left <= 0) continue;
      const { chance } = rule.form;
      if (chance !== null && this.#random() >= chance) continue;
      if (apply(rule.form)) rule.left -= 1;
    }
  }
}

function fitsModel(form: FailForm, model: string): boolean {
  return form.model === null || form.model === "*" || form.model === model;
}

function isOfEveryPath(form: FailForm): boolean {
  return form.effect.kind === "hang" || form.effect.kind === "loading";
}
