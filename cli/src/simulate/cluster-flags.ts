import { POLICIES, type PolicyName, SCENARIOS, type ScenarioName } from "@farmgate/simulator";
import { InvalidArgumentError } from "commander";

/** `--cluster NAME`. */
export function scenarioFlag(text: string): ScenarioName {
  const found = SCENARIOS.find((name) => name === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`must be one of ${SCENARIOS.join(", ")}`);
}

/** `--policy a,b|all`. */
export function policiesFlag(text: string): PolicyName[] {
  if (text === "all") return [...POLICIES];
  return text.split(",").map((name) => {
    const found = POLICIES.find((one) => one === name);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`${JSON.stringify(name)} is none of all, ${POLICIES.join(", ")}`);
  });
}

/** `--scale N`. */
export function scaleFlag(text: string): number {
  const scale = Number(text);
  if (/^\d*\.?\d+$/.test(text) && scale > 0 && scale <= 100) return scale;
  throw new InvalidArgumentError("must be a number above 0, at most 100");
}
