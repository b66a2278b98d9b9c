import { type ConfigProblem, formatProblem } from "./problem.ts";

/** A file that cannot be used, with every problem in it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(file: string, problems: readonly ConfigProblem[]) {
    super(problems.map((problem) => formatProblem(problem, file)).join("\n"));
    this.problems = problems;
  }
}
