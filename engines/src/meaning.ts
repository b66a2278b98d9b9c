import { type ErrorText, readErrorText } from "./error-text.ts";

/** A worker's answer other than 2xx; `body` may be cut short. */
export interface WorkerAnswer {
  status: number;
  body: string;
}

/**
 * What such an answer means for the request (contract: "What an answer of a worker means").
 * client_fault: final, passed on as it is. unknown_model: this pair cannot serve it, set aside. busy, loading,
 * load_failed: on to the next worker. worker_fault: likewise, and it alone counts for breakers.
 */
export type AnswerMeaning = "client_fault" | "unknown_model" | "busy" | "loading" | "load_failed" | "worker_fault";

/** One line of an engine's table; every condition that is there must hold. */
export interface MeaningRule {
  meaning: AnswerMeaning;
  status?: number;
  code?: string;
  type?: string;
  text?: RegExp;
}

/** The first rule that fits, else what the status alone says. */
export function meaningOf(answer: WorkerAnswer, rules: readonly MeaningRule[]): AnswerMeaning {
  const error = readErrorText(answer.body);
  const rule = rules.find((candidate) => fits(candidate, answer.status, error));
  return rule?.meaning ?? meaningOfStatus(answer.status);
}

function fits(rule: MeaningRule, status: number, error: ErrorText): boolean {
  if (rule.status !== undefined && rule.status !== status) return false;
  if (rule.code !== undefined && rule.code !== error.code) return false;
  if (rule.type !== undefined && rule.type !== error.type) return false;
  return rule.text === undefined || rule.text.test(error.message);
}

/**
 * 1. 401, 403, 404, 405, 501: the pair cannot serve this, another worker may. A stray web server lands here.
 * 2. 429, 503, 529: full, not broken.
 * 3. 408 and 424 blame the worker's own side although they are 4xx.
 * 4. Any other 4xx: the request itself is at fault, and no other worker would like it better.
 * 5. The rest, redirects included: no engine in its right mind answers an inference with it.
 */
function meaningOfStatus(status: number): AnswerMeaning {
  if (status === 401 || status === 403 || status === 404 || status === 405 || status === 501) return "unknown_model";
  if (status === 429 || status === 503 || status === 529) return "busy";
  if (status === 408 || status === 424) return "worker_fault";
  if (status >= 400 && status < 500) return "client_fault";
  return "worker_fault";
}
