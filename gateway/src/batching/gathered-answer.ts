import { GatheredBytes, type Relay } from "@farmgate/wire";
import type { UsageTap } from "../proxy/usage-tap.ts";

/** A whole answer that is kept in memory, for those who share it. */
export class GatheredAnswer implements Relay {
  status = 0;
  /** The finished head, flat. */
  headers: readonly string[] = [];
  readonly #body = new GatheredBytes();
  readonly #tap: UsageTap;

  constructor(tap: UsageTap) {
    this.#tap = tap;
  }

  body(): Buffer {
    return this.#body.bytes();
  }

  start(status: number, headers: string[]): void {
    this.status = status;
    this.headers = headers;
  }

  join(): void {}

  write(chunk: Buffer): boolean {
    this.#tap.add(chunk);
    this.#body.add(chunk);
    return true;
  }

  finish(): void {}

  break(): void {}
}
