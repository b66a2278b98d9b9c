import { once } from "node:events";
import { createServer } from "node:net";
import { addressProblem } from "../listening.ts";
import type { ProcessPlan } from "./process-plan.ts";

/** One line for each address that cannot be had now, with the key to change. */
export async function takenPorts(plans: readonly ProcessPlan[], file: string): Promise<string[]> {
  const problems = await Promise.all(plans.map((plan) => addressTrouble(plan, file)));
  return problems.filter((problem) => problem !== null);
}

async function addressTrouble(plan: ProcessPlan, file: string): Promise<string | null> {
  const server = createServer();
  try {
    server.listen({ host: plan.listen.host, port: plan.listen.port, exclusive: true });
    await once(server, "listening");
    return null;
  } catch (error) {
    const problem = addressProblem(error, plan.listen, `${plan.portKey} in ${file}`);
    return `${plan.title}: ${problem ?? String(error)}`;
  } finally {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }
}
