import { isPair, isScalar, isSeq, LineCounter, parseDocument, visit, type Document } from "yaml";
import type { z } from "zod";
import { DocumentLines } from "./document-lines.ts";
import { configMessage } from "./messages.ts";
import { type ConfigProblem, formatPath } from "./problem.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A `${NAME}` that the file uses. */
export interface EnvUse {
  name: string;
  /** The value it stands in, as `workers[0].apiKey`. */
  path: string;
}

export type ParsedConfig<T> =
  | { ok: true; value: T; env: readonly EnvUse[] }
  | { ok: false; problems: readonly ConfigProblem[] };

/** A YAML text with its environment filled in, before any schema looked at it. */
export interface ConfigDocument {
  value: unknown;
  env: readonly EnvUse[];
  problems: readonly ConfigProblem[];
  lineOf(path: readonly PropertyKey[]): number | null;
}

/** Reads YAML 1.2, refuses duplicate keys, and replaces `${NAME}` in every string value. Throws nothing. */
export function readDocument(text: string, env: Environment): ConfigDocument {
  const lines = new LineCounter();
  // The parser's own look for keys that come twice compares each one with each other one.
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  const places = new DocumentLines(document, lines);
  const problems: ConfigProblem[] = [
    ...document.errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message })),
    ...places.keysThatCannotBe(),
  ].map(({ line, message }) => ({ path: "", line, message: `not valid YAML: ${message}` }));
  const lineOf = (path: readonly PropertyKey[]) => places.lineOf(path);
  if (problems.length > 0) return { value: undefined, env: [], problems, lineOf };
  const used = expandEnvironment(document, env, lines, problems);
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), env: used, problems, lineOf };
  } catch (error) {
    problems.push({ path: "", line: null, message: `not usable YAML: ${String(error)}` });
    return { value: undefined, env: used, problems, lineOf };
  }
}

/** Checks a document, or the part of it below `at`, against a schema. Every problem is listed, with path and line. */
export function checkDocument<S extends z.ZodType>(
  document: ConfigDocument,
  schema: S,
  at: readonly PropertyKey[] = [],
): ParsedConfig<z.output<S>> {
  if (document.value === undefined && document.problems.length > 0) return { ok: false, problems: document.problems };
  let value = document.value ?? {};
  // A step into something that has no parts leaves that, for the schema to refuse.
  for (const step of at) if (typeof value === "object") value = (value as Record<PropertyKey, unknown>)[step] ?? {};
  const result = schema.safeParse(value, { error: configMessage });
  if (result.success && document.problems.length === 0) return { ok: true, value: result.data, env: document.env };
  const issues = result.success ? [] : result.error.issues;
  const told = new Set(document.problems.map(({ path }) => path));
  const found = issues.flatMap((issue) => toProblems(issue, at, document)).filter(({ path }) => !told.has(path));
  const problems = [...document.problems, ...found];
  return { ok: false, problems: problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}

/** `readDocument` and `checkDocument` in one step. */
export function parseConfig<S extends z.ZodType>(schema: S, text: string, env: Environment): ParsedConfig<z.output<S>> {
  return checkDocument(readDocument(text, env), schema);
}

function toProblems(issue: z.core.$ZodIssue, at: readonly PropertyKey[], document: ConfigDocument): ConfigProblem[] {
  const path = [...at, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    const messages = issue.message.split("\n");
    return issue.keys.map((key, i) => ({
      path: formatPath([...path, key]),
      line: document.lineOf([...path, key]),
      message: messages[i] ?? "unknown key",
    }));
  }
  return [{ path: formatPath(path), line: document.lineOf(path), message: issue.message }];
}

function expandEnvironment(
  document: Document.Parsed,
  env: Environment,
  lines: LineCounter,
  problems: ConfigProblem[],
): EnvUse[] {
  const used: EnvUse[] = [];
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === "key" || typeof node.value !== "string" || !node.value.includes("${")) return;
      const path = formatPath(pathOf(ancestors, node));
      node.value = node.value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) => {
        used.push({ name, path });
        const value = env[name];
        if (value !== undefined) return value;
        const line = node.range ? lines.linePos(node.range[0]).line : null;
        problems.push({ path, line, message: `environment variable ${name} is not set` });
        return whole;
      });
    },
  });
  return used;
}

function pathOf(ancestors: readonly unknown[], node: unknown): PropertyKey[] {
  const path: PropertyKey[] = [];
  const chain = [...ancestors, node];
  for (const [i, parent] of chain.slice(0, -1).entries()) {
    if (isSeq(parent)) path.push(parent.items.indexOf(chain[i + 1]));
    else if (isPair(parent) && isScalar(parent.key)) path.push(String(parent.key.value));
  }
  return path;
}
