import { parseDuration } from "@farmgate/shared";
import { describe, expect, test } from "vitest";
import { isThere, textOf, variablesIn, yamlOf } from "./deploy-files.ts";

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  networks: string[];
  secrets?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  restart?: string;
  cap_drop?: string[];
  stop_grace_period?: string;
  deploy?: { resources: { limits: { cpus: string; memory: string; pids: number } } };
}

interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, null>;
  secrets: Record<string, { environment: string }>;
}

const compose = yamlOf("docker-compose.yml") as Compose;
const services = Object.entries(compose.services);
const farmgate = services.filter(([, { image }]) => image === "farmgate");
const fileOf = ({ command = [] }: Service) => (command.at(-1) ?? "").replace("/etc/farmgate/", "deploy/compose/");

describe("docker-compose.yml", () => {
  test.each(services)("%s is watched, started again, limited, and ended in its own time", (_name, service) => {
    expect(service.healthcheck?.test[0]).toBe("CMD");
    expect(service.restart).toBe("unless-stopped");
    expect(service.cap_drop).toEqual(["ALL"]);
    expect(Object.keys(service.deploy?.resources.limits ?? {})).toEqual(["cpus", "memory", "pids"]);
    expect(parseDuration(service.stop_grace_period ?? "")).toBeGreaterThan(0);
    // A name alone is the latest of that day.
    expect(service.image === "farmgate" || /:v?\d+\.\d+/.test(service.image)).toBe(true);
  });

  test("nothing but the door is reached from other machines", () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port] as const));
    const open = published.filter(([, port]) => !port.startsWith("127.0.0.1:"));
    expect(open.map(([name]) => name)).toEqual(["door"]);
  });

  test("Redis and agents are on networks that lead nowhere else, with those who need them", () => {
    const on = (network: string) => services.flatMap(([name, one]) => (one.networks.includes(network) ? [name] : []));
    expect(on("state")).toEqual(["gateway-1", "gateway-2", "redis"]);
    expect(on("farm")).toEqual(["gateway-1", "gateway-2", "box", "mac"]);
    expect([compose.networks["state"]?.internal, compose.networks["farm"]?.internal]).toEqual([true, true]);
  });

  test("mounts and builds from files that are there, and waits for services that are there", () => {
    const all = <T>(what: (service: Service) => readonly T[]) => services.flatMap(([, service]) => what(service));
    const mounted = all(({ volumes = [] }) => volumes.map((volume) => volume.split(":")[0] ?? ""));
    const files = [...mounted, ...all(({ build }) => (build === undefined ? [] : [build.dockerfile]))];
    const isKnown = (path: string) => path in compose.volumes || isThere(path);
    expect(files.filter((path) => !isKnown(path))).toEqual([]);
    const waits = all(({ depends_on = {} }) => Object.entries(depends_on));
    expect(waits.filter(([name]) => compose.services[name] === undefined)).toEqual([]);
    const conditions = new Set(waits.map(([, { condition }]) => condition));
    expect(conditions).toEqual(new Set(["service_healthy", "service_started"]));
    expect(new Set(all(({ networks }) => networks))).toEqual(new Set(Object.keys(compose.networks)));
    expect(new Set(all(({ secrets = [] }) => secrets))).toEqual(new Set(Object.keys(compose.secrets)));
  });

  test.each(farmgate)("%s has a file, its variables, and the time to drain", (_name, service) => {
    expect(Object.keys(service.environment ?? {}).toSorted()).toEqual(variablesIn(fileOf(service)));
    const { drain } = yamlOf(fileOf(service)) as { drain: string };
    const grace = parseDuration(service.stop_grace_period ?? "") ?? 0;
    // An agent also ends its commands: twice ten seconds.
    const needed = (parseDuration(drain) ?? 0) + (service.command?.[0] === "agent" ? 20_000 : 0);
    expect(grace).toBeGreaterThan(needed);
  });

  test("asks for every variable that has no default, and .env.example names them all", () => {
    const text = textOf("docker-compose.yml");
    const needed = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
    const known = new Set([...text.matchAll(/\$\{(\w+):[?-]/g)].map(([, name]) => name));
    expect([...text.matchAll(/\$\{\w+\}/g)]).toEqual([]);
    const lines = textOf(".env.example").split("\n");
    const named = lines.flatMap((line) => /^(#?)(\w+)=/.exec(line) ?? []);
    expect(new Set(lines.flatMap((line) => /^(\w+)=$/.exec(line)?.[1] ?? []))).toEqual(needed);
    expect([...known].filter((name) => !named.includes(name ?? ""))).toEqual([]);
  });

  test("the door, Prometheus and the gateways' file name services by their ports", () => {
    const gateways = farmgate.flatMap(([name, { command }]) => (command?.[0] === "gateway" ? [`${name}:8400`] : []));
    const agents = farmgate.flatMap(([name, { command }]) => (command?.[0] === "agent" ? [`${name}:8401`] : []));
    expect(compose.services["door"]?.environment?.["FARMGATE_GATEWAYS"]).toBe(gateways.join(" "));
    const { workers } = yamlOf("deploy/compose/gateway.yaml") as { workers: { url: string }[] };
    expect(workers.map(({ url }) => new URL(url).host)).toEqual(agents);
    const prometheus = yamlOf("deploy/compose/prometheus.yml") as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const targets = prometheus.scrape_configs.flatMap(({ static_configs }) =>
      static_configs.flatMap((one) => one.targets),
    );
    expect(targets).toEqual([...gateways, ...agents]);
  });
});
