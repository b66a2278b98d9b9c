import { relative } from "node:path";
import type { Reporter, TestCase } from "vitest/node";

/** Tells at the end of a run which tests passed at their second try only. */
export default class SecondTries implements Reporter {
  readonly #told: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) {
      this.#told.push(`${relative(test.project.vitest.config.root, test.module.moduleId)} > ${test.fullName}`);
    }
  }

  onTestRunEnd(): void {
    for (const name of this.#told) console.log(`passed at the second try: ${name}`);
  }
}
