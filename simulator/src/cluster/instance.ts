import type { LoadSource } from "./host-store.ts";
import type { Engine, EngineOwner } from "./engine.ts";
import type { InstanceView, Role } from "./types.ts";

export class Instance implements InstanceView, EngineOwner {
  readonly id: number;
  readonly app: number;
  readonly role: Role;
  readonly devices: readonly number[];
  /** One for each of its replicas. */
  readonly engines: Engine[] = [];
  /** It serves from half of its load on. */
  readonly isLive: boolean;
  /** The instance that goes when it is ready; null: none. */
  readonly replaces: Instance | null;
  state: "starting" | "active" | "draining" = "starting";
  idleSince: number | null;
  running = 0;
  isGone = false;
  /** When its devices' links have sent all that other instances asked of them so far. */
  linkFreeAt = 0;
  load: { source: LoadSource; bytes: number; beganAt: number } | null = null;

  constructor(
    id: number,
    app: number,
    role: Role,
    devices: readonly number[],
    isLive: boolean,
    replaces: Instance | null,
    now: number,
  ) {
    this.id = id;
    this.app = app;
    this.role = role;
    this.devices = devices;
    this.isLive = isLive;
    this.replaces = replaces;
    this.idleSince = now;
  }
}
