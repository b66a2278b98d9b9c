import { seededRandom } from "@farmgate/shared";
import { walks } from "./walks.ts";

const WALKS = 500;
const STEPS = 60;

/**
 * Deciders that are told a time which jumps, forward and back by up to ten days: whatever they set aside is free again
 * once the time that they named has come, no pause grows by a jump, and nobody is refused for longer than without one.
 */
export function clockFaults(seed: number): { told: string[]; broken: string[] } {
  const random = seededRandom(seed);
  const broken = new Set<string>();
  const told = Object.entries(walks).map(([name, walk]) => {
    const problems = new Set<string>();
    for (let n = 0; n < WALKS; n += 1) for (const problem of walk(random, STEPS)) problems.add(problem);
    for (const problem of problems) broken.add(`clock jumps: ${problem}`);
    return `clock jumps, ${name}: ${WALKS} walks of ${STEPS} steps, ${problems.size} problems`;
  });
  return { told, broken: [...broken] };
}
