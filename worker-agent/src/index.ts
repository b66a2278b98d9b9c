export { type AgentConfig, agentConfigSchema } from "./config.ts";
export * from "./queue/bound.ts";
export * from "./queue/fifo.ts";
export * from "./queue/greedy.ts";
export * from "./queue/policy.ts";
export * from "./queue/scheduler.ts";
export * from "./queue/types.ts";
export { splitWords } from "./swap/split-words.ts";
export { type AgentOptions, type RunningAgent, startAgent } from "./start.ts";
