import type { z } from "zod";

export type ReportProblem = (path: readonly PropertyKey[], message: string) => void;

/** A rule between keys of a configuration, which no single key can tell. */
export interface CrossCheck<T> {
  /** The top-level keys that it looks at: it is left out while one of these is malformed. */
  reads: readonly (keyof T)[];
  check: (config: T, report: ReportProblem) => void;
}

/**
 * A schema that also keeps rules between its keys. They are checked on whatever could be read, so that a fault of one
 * key does not hide that others do not go together, which would then come up only once the first is mended.
 */
export function withCrossChecks<S extends z.ZodObject>(schema: S, checks: readonly CrossCheck<z.output<S>>[]): S {
  return schema.superRefine(
    (config, context) => {
      const malformed = new Set(context.issues.filter(leavesNoValue).map(({ path }) => path?.[0]));
      // No key at all: it is not even an object.
      if (malformed.has(undefined)) return;
      const report: ReportProblem = (path, message) => {
        context.addIssue({ code: "custom", path: [...path], message });
      };
      for (const { reads, check } of checks) if (!reads.some((key) => malformed.has(key))) check(config, report);
    },
    { when: () => true },
  );
}

/** An unknown key, or a value of the right type that a rule refuses, leaves a value that can be read all the same. */
function leavesNoValue(issue: z.core.$ZodRawIssue): boolean {
  return issue.code !== "unrecognized_keys" && issue.continue !== true;
}
