import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parseDuration } from "@farmgate/shared";
import { describe, expect, test } from "vitest";
import { findProgram } from "../bench/targets/find-program.ts";
import { documentsOf, filesIn, isThere, pathOf, textOf, variablesIn, yamlOf } from "./deploy-files.ts";

const BASE = "deploy/kubernetes/base";
const KUBECTL = findProgram("kubectl");
const LABELS = { "app.kubernetes.io/name": "farmgate", "app.kubernetes.io/component": "gateway" };

interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  args: string[];
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  lifecycle: { preStop: { exec: { command: string[] } } };
  resources: { limits: { memory: string } };
  securityContext: object;
  volumeMounts: { name: string }[];
}
interface Pod {
  terminationGracePeriodSeconds: number;
  securityContext: { runAsNonRoot: boolean };
  topologySpreadConstraints: { labelSelector: object }[];
  containers: [Container];
  volumes: { name: string }[];
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: Record<string, unknown>;
}

const manifest = (name: string) => yamlOf(`${BASE}/${name}.yaml`) as Manifest;
const deployment = manifest("deployment").spec as unknown as {
  replicas: number;
  selector: object;
  template: { metadata: { labels: object }; spec: Pod };
};
const pod = deployment.template.spec;
const [container] = pod.containers;

describe("deploy/kubernetes", () => {
  test.each(["base", "with-prometheus", "with-autoscaling"])(
    "%s names every file that it has, and no other",
    (folder) => {
      const path = `deploy/kubernetes/${folder}`;
      const { resources } = yamlOf(`${path}/kustomization.yaml`) as { resources: string[] };
      const others = ["kustomization.yaml", "gateway.yaml", "secret.example.yaml"].map((name) => `${path}/${name}`);
      const named = resources.map((name) => `${path}/${name}`);
      expect(
        filesIn(path)
          .filter((file) => !others.includes(file))
          .toSorted(),
      ).toEqual(named.toSorted());
      for (const file of named) {
        const { apiVersion, kind, metadata } = yamlOf(file) as Manifest;
        expect([typeof apiVersion, typeof kind, metadata.name.startsWith("farmgate")]).toEqual([
          "string",
          "string",
          true,
        ]);
      }
    },
  );

  test("everything that looks for gateways finds them by their labels", () => {
    expect(deployment.template.metadata.labels).toEqual(LABELS);
    expect(manifest("service").spec["selector"]).toEqual(LABELS);
    const matching = { matchLabels: LABELS };
    expect(deployment.selector).toEqual(matching);
    expect(pod.topologySpreadConstraints[0]?.labelSelector).toEqual(matching);
    expect(manifest("disruption-budget").spec["selector"]).toEqual(matching);
    expect(manifest("network-policy").spec["podSelector"]).toEqual(matching);
    const monitor = yamlOf("deploy/kubernetes/with-prometheus/service-monitor.yaml") as Manifest;
    expect(monitor.spec["selector"]).toEqual(matching);
  });

  test("gateways are asked where they answer, and have time to drain", () => {
    const file = yamlOf(`${BASE}/gateway.yaml`) as { listen: { port: number }; drain: string };
    expect(container.ports).toEqual([{ name: "http", containerPort: file.listen.port }]);
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    expect(probes.map(({ httpGet }) => httpGet)).toEqual(
      ["/livez", "/livez", "/readyz"].map((path) => ({ path, port: "http" })),
    );
    const pause = Number(/\d{4,}/.exec(container.lifecycle.preStop.exec.command.join(" "))?.[0]);
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan((parseDuration(file.drain) ?? 0) + pause);
    expect(deployment.replicas).toBe(2);
  });

  test("gateways have no right that they do not need, and every variable that their file names", () => {
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
    const { stringData } = yamlOf(`${BASE}/secret.example.yaml`) as { stringData: object };
    expect(Object.keys(stringData).toSorted()).toEqual(variablesIn(`${BASE}/gateway.yaml`));
  });

  test.skipIf(KUBECTL === undefined)("kubectl puts it together (skipped where it is not installed)", async () => {
    const { stdout } = await promisify(execFile)(KUBECTL ?? "", ["kustomize", pathOf(BASE)]);
    const kinds = (documentsOf(stdout) as Manifest[]).map(({ kind }) => kind);
    expect(kinds).toHaveLength(6);
    expect(kinds).toEqual(expect.arrayContaining(["ConfigMap", "Deployment", "Service", "PodDisruptionBudget"]));
  });

  test("the page about it names folders that are there", () => {
    const named = [...textOf("deploy/README.md").matchAll(/\]\(([^)#]+)\)/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !isThere(path.startsWith("../") ? path.slice(3) : `deploy/${path}`))).toEqual([]);
  });
});
