import { tlsTrouble } from "@farmgate/wire";
import { TooSlow } from "./time-limit.ts";

const BY_CODE: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "it broke the connection",
  EPIPE: "it broke the connection",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name is not known now",
  ETIMEDOUT: "it cannot be reached",
  EHOSTUNREACH: "it cannot be reached",
  ENETUNREACH: "it cannot be reached",
};

const BY_REPLY: Record<string, string> = {
  NOAUTH: "it wants a password",
  WRONGPASS: "it does not know this user or password",
  NOPERM: "the user may not do what is needed",
  READONLY: "it is a replica that takes no writes",
  LOADING: "it still loads its data",
  OOM: "its memory is full",
  MISCONF: "it takes no writes, since it cannot save them",
  MASTERDOWN: "it has lost the server of which it is a replica",
  CLUSTERDOWN: "the cluster is down",
  BUSY: "it is busy with a script",
  NOREPLICAS: "it takes no writes without its replicas",
  WRONGTYPE: "keys of the farm hold what no gateway wrote there",
};

/** What an error of Redis means, for people. Never its own text, which may quote what it was sent, a password too. */
export function meaningOf(error: unknown): string {
  if (error instanceof TooSlow) return "it does not answer in time";
  const { code = "", message = "" } = error as { code?: string; message?: string };
  const known = BY_CODE[code] ?? tlsTrouble(code);
  if (known !== null && known !== undefined) return known;
  // The first word of a reply; older servers put that of a script's command in the middle.
  for (const [word] of message.matchAll(/\b[A-Z]{3,}\b/g)) if (word in BY_REPLY) return BY_REPLY[word] ?? "";
  // Of a command in a script, as Redis 7 and later ones say it.
  if (/user executing the script|ACL failure/.test(message)) return BY_REPLY["NOPERM"] ?? "";
  if (isOfNoDatabase(error)) return "it has no database of that number";
  if (/sentinel/i.test(message)) return "no sentinel tells of it";
  if (/slots cache/i.test(message)) return "no node of the cluster answers";
  return "the connection is broken";
}

/** Whether a server says that it has no such database. */
export function isOfNoDatabase(error: unknown): boolean {
  return /DB index is out of range/i.test((error as Error).message ?? "");
}
