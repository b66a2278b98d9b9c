export interface RedisAddress {
  kind: "single" | "sentinel" | "cluster";
  /** Servers, sentinels, or nodes of the cluster that are asked for the others. */
  nodes: readonly { host: string; port: number }[];
  /** By which sentinels know the server; null: it is no matter of sentinels. */
  master: string | null;
  db: number;
  username: string | null;
  password: string | null;
  tls: boolean;
}

const FORMS =
  "redis://HOST:PORT/DB, redis+sentinel://HOST:PORT,HOST:PORT/MASTER/DB or redis+cluster://HOST:PORT,HOST:PORT";
const KINDS: Record<string, { kind: RedisAddress["kind"]; tls: boolean; port: number }> = {
  redis: { kind: "single", tls: false, port: 6_379 },
  rediss: { kind: "single", tls: true, port: 6_379 },
  "redis+sentinel": { kind: "sentinel", tls: false, port: 26_379 },
  "rediss+sentinel": { kind: "sentinel", tls: true, port: 26_379 },
  "redis+cluster": { kind: "cluster", tls: false, port: 6_379 },
  "rediss+cluster": { kind: "cluster", tls: true, port: 6_379 },
};

/** What a URL of Redis says; a text says what is wrong with it, and quotes nothing of it. */
export function parseRedisUrl(url: string): RedisAddress | string {
  // Not by `URL`, which knows one host alone. What stands before the last @ may hold any character.
  const parts = /^([a-z+]+):\/\/(?:(.*)@)?([^/?#@]*)(?:\/([^?#]*))?$/s.exec(url);
  const form = KINDS[parts?.[1] ?? ""];
  if (parts === null || form === undefined) return `must be ${FORMS} (rediss for TLS)`;
  const [, , login, hosts = "", path = ""] = parts;
  const nodes = hosts.split(",").map((host) => node(host, form.port));
  if (!nodes.every((one) => one !== null)) return "must name a host, or HOST:PORT, for each server";
  if (form.kind === "single" && nodes.length > 1) return `names several servers: write ${FORMS}`;
  const way = path === "" ? [] : path.split("/").map(plain);
  const master = form.kind === "sentinel" ? (way.shift() ?? "") : null;
  if (master === "") return "must name the server as its sentinels do: redis+sentinel://HOST:PORT/MASTER";
  const db = way.shift() ?? "";
  if (way.length > 0 || !/^\d{0,5}$/.test(db)) return "must end with the number of a database, or without one";
  if (form.kind === "cluster" && Number(db) > 0) return "must not name a database: a cluster has but one";
  const colon = login?.indexOf(":") ?? -1;
  const username = login === undefined ? "" : plain(colon < 0 ? login : login.slice(0, colon));
  const password = login === undefined || colon < 0 ? "" : plain(login.slice(colon + 1));
  if (username !== "" && password === "") return "names a user without a password: write USER:PASSWORD@, or :PASSWORD@";
  return {
    kind: form.kind,
    nodes,
    master,
    db: Number(db),
    username: username || null,
    password: password || null,
    tls: form.tls,
  };
}

/** Where it is, for people: without name and password. */
export function placeOf({ nodes, master }: RedisAddress): string {
  const hosts = nodes.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`).join(", ");
  return master === null ? hosts : `${master} of ${hosts}`;
}

function node(text: string, standard: number): { host: string; port: number } | null {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3] ?? standard);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

/** A password with a stray % means itself. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
