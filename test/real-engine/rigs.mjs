// The two ways to the engines: straight to them, or through a Farmgate gateway and agent.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { get, waitFor, waitForHealth } from "./client.mjs";
import { startNode, swap, swapScript } from "./processes.mjs";

export const WORKER = "story-box";

/**
 * @typedef {object} Place where a run happens
 * @property {string} root the project
 * @property {string} folder of this run: configuration, state and logs
 * @property {NodeJS.ProcessEnv} env what the swap script needs
 * @property {Record<string, string>} engines each model's engine, by the model's name
 * @property {{ agent: number, gateway: number }} ports for the farm's own programs
 *
 * @typedef {object} Rig
 * @property {boolean} direct
 * @property {(model: string) => string} base the address to ask for a model
 * @property {(model: string) => Promise<void>} load makes a model ready, where nobody else does
 * @property {() => Promise<string[]>} models what is listed
 * @property {(model: string) => Promise<void>} settled resolves when the caller's side knows that only this model is loaded
 * @property {() => Promise<any>} agent what the agent says of itself
 */

/** The run does by hand what the agent would do. @param {Place} place @returns {Rig} */
export function directRig({ env, engines }) {
  let loaded = "";
  return {
    direct: true,
    base: (model) => engines[model],
    async load(model) {
      await swap({ ...env, FARMGATE_MODEL: model, FARMGATE_URL: engines[model], FARMGATE_PREVIOUS: loaded }, model);
      const seen = await waitForHealth(`${engines[model]}/health`);
      console.log(`${model}: /health answered ${seen.join(", then ")}`);
      loaded = model;
    },
    models: async () =>
      (await get(`${engines[loaded]}/v1/models`)).body.data.map((/** @type {any} */ entry) => entry.id),
    settled: async () => {},
    agent: async () => ({}),
  };
}

/** @param {Place} place @returns {Promise<Rig>} */
export async function farmRig({ root, folder, env, engines, ports }) {
  const agentUrl = `http://127.0.0.1:${ports.agent}`;
  const gatewayUrl = `http://127.0.0.1:${ports.gateway}`;

  const agentFile = writeConfig(folder, "agent.yaml", {
    name: WORKER,
    listen: { host: "127.0.0.1", port: ports.agent },
    swap: { command: swapScript, timeout: "30s", poll: "100ms" },
    models: Object.entries(engines).map(([name, url]) => ({ name, url, slots: 1, ready: "health", health: "/health" })),
    drain: "5s",
  });
  const gatewayFile = writeConfig(folder, "gateway.yaml", {
    listen: { host: "127.0.0.1", port: ports.gateway },
    health: { interval: "250ms", timeout: "2s", unhealthyAfter: 3 },
    workers: [{ name: WORKER, url: agentUrl, engine: "agent" }],
    // With a comment line the answer's head leaves before it is known who answers, and a slow machine waits long.
    sseComments: 0,
    drain: "5s",
  });

  const cli = join(root, "cli", "dist", "main.js");
  const agent = startNode("agent", folder, env, [cli, "agent", "--config", agentFile]);
  const gateway = startNode("gateway", folder, env, [cli, "gateway", "--config", gatewayFile]);
  await waitForHealth(`${agentUrl}/health`, agent.hasEnded);
  await waitForHealth(`${gatewayUrl}/health`, gateway.hasEnded);

  const listed = async () => (await get(`${gatewayUrl}/v1/models`)).body.data;
  return {
    direct: false,
    base: () => gatewayUrl,
    load: async () => {},
    models: async () => (await listed()).map((/** @type {any} */ entry) => entry.id),
    async settled(model) {
      await waitFor(
        `the gateway to see only ${model} warm`,
        async () => {
          const warm = (await listed()).filter((/** @type {any} */ entry) => entry.farmgate.warm.includes(WORKER));
          return warm.length === 1 && warm[0].id === model ? true : undefined;
        },
        10_000,
      );
    },
    agent: async () => (await get(`${agentUrl}/health`)).body,
  };
}

/** JSON is YAML too. @param {string} folder @param {string} name @param {object} config */
function writeConfig(folder, name, config) {
  const file = join(folder, name);
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`);
  return file;
}
