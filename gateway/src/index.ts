export { type GatewayConfig, gatewayConfigSchema } from "./config.ts";
export { type GatewayOptions, type RunningGateway, startGateway } from "./start.ts";
