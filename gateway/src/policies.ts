// The gateway's deciders, for who runs them in virtual time: nothing here opens a socket or asks the clock.
export type * from "./placement/oracle/types.ts";
export type * from "./placement/pools/types.ts";
