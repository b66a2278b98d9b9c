import { plainText } from "../plain-text.ts";

/** One thing that is wrong in a configuration file. */
export interface ConfigProblem {
  /** Where in the document, as `workers[1].url`; empty for the document itself. */
  path: string;
  /** One-based line in the file, when it is known. */
  line: number | null;
  message: string;
}

/** `gateway.yaml:12: workers[1].url: must be an http(s) address` */
export function formatProblem(problem: ConfigProblem, file: string): string {
  const place = problem.line === null ? file : `${file}:${problem.line}`;
  // A key or a value of the file may hold anything, and this goes to a terminal.
  return plainText(
    problem.path === "" ? `${place}: ${problem.message}` : `${place}: ${problem.path}: ${problem.message}`,
  );
}

/** `["workers", 1, "url"]` as `workers[1].url`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? String(step) : `.${String(step)}`;
  }
  return text;
}
