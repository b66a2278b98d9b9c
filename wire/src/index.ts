export * from "./answer-error.ts";
export * from "./exchange.ts";
export * from "./exchange-failure.ts";
export * from "./key-ring.ts";
export * from "./log.ts";
export * from "./read-body.ts";
export * from "./system-clock.ts";
export * from "./upstream.ts";
