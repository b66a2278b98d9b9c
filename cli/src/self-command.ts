import type { Environment } from "@farmgate/shared";

/** How a person calls this program again: npm says in the environment that it started it. */
export function selfCommand(env: Environment): string {
  const event = env["npm_lifecycle_event"];
  if (event === undefined) return "farmgate";
  return event === "npx" ? "npx farmgate" : "npm run farmgate --";
}
