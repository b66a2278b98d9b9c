import { once } from "node:events";
import { createServer } from "node:net";
import { addressProblem } from "../listening.ts";
import type { ProcessPlan } from "./process-plan.ts";

/**
 * One line for each address that cannot be had now, with what to change. `file` is null when the farm stands in none
 * of the user's own.
 */
export async function takenPorts(plans: readonly ProcessPlan[], file: string | null): Promise<string[]> {
  const problems = await Promise.all(plans.map((plan) => addressTrouble(plan, file)));
  return problems.filter((problem) => problem !== null);
}

async function addressTrouble(plan: ProcessPlan, file: string | null): Promise<string | null> {
  const server = createServer();
  try {
    server.listen({ host: plan.listen.host, port: plan.listen.port, exclusive: true });
    await once(server, "listening");
    return null;
  } catch (error) {
    const problem = addressProblem(error, plan.listen, placeOf(plan, file));
    return `${plan.title}: ${problem ?? String(error)}`;
  } finally {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }
}

function placeOf({ role, portKey }: ProcessPlan, file: string | null): string {
  if (file === null) return "--port";
  return role === "gateway" ? `${portKey} in ${file}, or give another --port` : `${portKey} in ${file}`;
}
