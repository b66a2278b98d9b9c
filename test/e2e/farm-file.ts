import { fileURLToPath } from "node:url";

const SWAP = fileURLToPath(new URL("../../cli/demo/swap.mjs", import.meta.url));

export interface FarmPorts {
  gateway: number;
  /** Of the agents gpu and mac. */
  agents: readonly [number, number];
  engines: readonly [number, number];
}

/**
 * A farm of two simulated machines: `gpu` swaps coder (loaded) and writer, `mac` holds small.
 * `more` goes into the gateway's part.
 */
export function farmFile(ports: FarmPorts, more = ""): string {
  return `
gateway:
  listen: { port: ${ports.gateway} }
  health: { interval: 250ms }
  drain: 20s
${more}
agents:
  - name: gpu
    listen: { port: ${ports.agents[0]} }
    swap: { command: "${SWAP}", timeout: 20s, poll: 50ms }
    drain: 20s
    models:
      - { name: coder, url: "http://127.0.0.1:${ports.engines[0]}", ready: models }
      - { name: writer, url: "http://127.0.0.1:${ports.engines[0]}", ready: models }
  - name: mac
    listen: { port: ${ports.agents[1]} }
    swap: { command: "${SWAP}", timeout: 20s, poll: 50ms }
    drain: 20s
    models:
      - { name: small, url: "http://127.0.0.1:${ports.engines[1]}", ready: models }
engines:
  - name: gpu-engine
    listen: { port: ${ports.engines[0]} }
    load: 300ms
    maxLoaded: 1
    autoload: false
    tokensPerSecond: 100
    models: [{ name: coder, loaded: true }, writer]
  - name: mac-engine
    listen: { port: ${ports.engines[1]} }
    tokensPerSecond: 100
    models: [{ name: small, loaded: true }]
`;
}
