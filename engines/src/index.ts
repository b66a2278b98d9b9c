export * from "./adapter.ts";
export * from "./adapter-for.ts";
export * from "./catalog.ts";
export * from "./engine-poll.ts";
export * from "./error-text.ts";
export * from "./meaning.ts";
export * from "./read-model.ts";
