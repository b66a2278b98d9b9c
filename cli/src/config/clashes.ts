import { type ConfigDocument, type ConfigProblem, formatPath } from "@farmgate/shared";
import type { Farm } from "./farm-schema.ts";

interface Program {
  path: readonly PropertyKey[];
  portPath: readonly PropertyKey[];
  name: string;
  port: number;
}

/**
 * What is wrong between the parts of a farm file: a name or a port that two programs would share. A port is compared
 * without its host, since all of them run on this machine and most listen on the same address.
 */
export function clashes(farm: Farm, document: ConfigDocument): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const report = (path: readonly PropertyKey[], message: string) =>
    problems.push({ path: formatPath(path), line: document.lineOf(path), message });
  const all = programs(farm);

  for (const list of ["agents", "engines"]) {
    const members = all.filter((program) => program.path[0] === list);
    eachRepeated(members, "name", (program, first) =>
      report([...program.path, "name"], `${program.name} is already the name of ${formatPath(first.path)}`),
    );
  }
  for (const program of all) {
    if (program.port === 0) report(program.portPath, "must be a fixed port in a farm file");
  }
  eachRepeated(
    all.filter((program) => program.port !== 0),
    "port",
    (program, first) => report(program.portPath, `${program.port} is already the port of ${formatPath(first.path)}`),
  );
  return problems;
}

/** Every program that `up` starts from the farm. */
function programs(farm: Farm): Program[] {
  return [
    { path: ["gateway"], portPath: ["gateway", "listen", "port"], name: "gateway", port: farm.gateway.listen.port },
    ...farm.agents.map((agent, i) => ({
      path: ["agents", i],
      portPath: ["agents", i, "listen", "port"],
      name: agent.name,
      port: agent.listen.port,
    })),
    ...farm.engines.map((engine, i) => ({
      path: ["engines", i],
      portPath: ["engines", i, "listen", "port"],
      name: engine.name,
      port: engine.listen.port,
    })),
  ];
}

function eachRepeated(
  members: readonly Program[],
  key: "name" | "port",
  report: (program: Program, first: Program) => void,
): void {
  const seen = new Map<string | number, Program>();
  for (const program of members) {
    const first = seen.get(program[key]);
    if (first === undefined) seen.set(program[key], program);
    else report(program, first);
  }
}
