import type { Pool, PoolAction, Replica } from "@farmgate/gateway/policies";
import type { ClusterAction, ClusterView, InstanceView } from "../types.ts";
import { type Served, servedBy } from "./line-names.ts";

interface Belonging {
  /** The pools' name for what it serves: the application's, or of a line or a part of it. */
  model: string;
  pool: Pool;
  /** The instance in whose place it is started. */
  replaces?: number;
}

/** As what each instance was started: the cluster does not say. By application, role and first device. */
export class Belongings {
  #known = new Map<string, Belonging>();

  /** The instances as the pools see them. Those that are gone are forgotten. */
  replicas(view: ClusterView): Replica[] {
    const still = new Map<string, Belonging>();
    const ids = new Set(view.instances.map(({ id }) => id));
    const replicas = view.instances.flatMap((instance) => {
      const key = keyOf(instance, instance.devices);
      const belonging = this.#known.get(key);
      if (belonging === undefined) return [];
      still.set(key, belonging);
      return [replicaOf(instance, belonging, ids)];
    });
    this.#known = still;
    return replicas;
  }

  /** The cluster's actions for the pools', of which it takes note. */
  actions(planned: readonly PoolAction[], view: ClusterView): ClusterAction[] {
    return planned.flatMap((action) => this.#action(action, view));
  }

  #action(action: PoolAction, view: ClusterView): ClusterAction[] {
    const { reason } = action;
    if (action.kind === "activate") {
      const { app, role } = servedBy(action.model);
      const devices = action.bins.map(Number);
      this.#known.set(keyOf({ app, role }, devices), { model: action.model, pool: action.pool });
      return [{ kind: "activate", app, role, devices, reason }];
    }
    const id = Number(action.replica);
    if (action.kind === "release") return [{ kind: "release", instance: id, reason }];
    const old = view.instances.find((instance) => instance.id === id);
    const belonging = old && this.#known.get(keyOf(old, old.devices));
    if (old === undefined || belonging === undefined) return [];
    const to = action.to.map(Number);
    this.#known.set(keyOf(old, to), { ...belonging, replaces: id });
    return [{ kind: "move", instance: id, to, reason }];
  }
}

function replicaOf(instance: InstanceView, { model, pool, replaces }: Belonging, ids: ReadonlySet<number>): Replica {
  const replica = { id: String(instance.id), model, pool, bins: instance.devices.map(String), state: instance.state };
  return replaces === undefined || !ids.has(replaces) ? replica : { ...replica, replaces: String(replaces) };
}

function keyOf({ app, role }: Served, devices: readonly number[]): string {
  return `${app}.${role}@${devices[0] ?? -1}`;
}
