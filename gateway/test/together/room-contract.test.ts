import { describe } from "vitest";
import { hubContract } from "./hub-contract.ts";
import { testRoom } from "./room-hub.ts";

describe("gateways that meet in a room do what every hub does", () => {
  hubContract(() => Promise.resolve(testRoom()));
});
