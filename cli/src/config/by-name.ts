import { usageError } from "../exit-code.ts";

/** The member called `name`; without a name the only one. Throws a usage error that lists what there is. */
export function byName<T extends { name: string }>(
  members: readonly T[],
  name: string | null,
  what: "agent" | "engine",
  file: string,
): T {
  const found = name === null ? members : members.filter((member) => member.name === name);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (members.length === 0) throw usageError(`${file} lists no ${what}s.`);
  const names = members.map((member) => member.name).join(", ");
  if (name === null) throw usageError(`${file} lists ${members.length} ${what}s; pick one with --name: ${names}`);
  throw usageError(`${file} has no ${what} called ${name}; it has: ${names}`);
}
