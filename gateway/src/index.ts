export { type GatewayConfig, gatewayConfigSchema } from "./config.ts";
export { changeOf, type Reloaded } from "./reload.ts";
export type { GatewayOptions } from "./create-farm.ts";
export { type RunningGateway, startGateway } from "./start.ts";
export type { FromRoom, Port, PortEvents, ToRoom } from "./together/processes/messages.ts";
export { ProcessHub } from "./together/processes/process-hub.ts";
export { RoomDesk } from "./together/processes/room-desk.ts";
export { shareLimits } from "./together/processes/share-limits.ts";
