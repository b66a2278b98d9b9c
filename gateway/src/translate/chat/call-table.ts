import type { CallPiece } from "./chat-piece.ts";
import { GrowingObject } from "./growing-object.ts";

/** The calls of one answer, put together from their pieces. `C`: what is kept of each. */
export class CallTable<C extends CallPiece> {
  readonly all: C[] = [];
  readonly #byIndex = new Map<number, C>();
  readonly #byId = new Map<string, C>();
  readonly #args = new Map<C, GrowingObject>();

  /** Adds a piece to the call that it belongs to, and gives that call; `begin` makes one that it is the first piece of. */
  add(piece: CallPiece, begin: (piece: CallPiece) => C): C {
    const call = this.#find(piece) ?? this.#begin(begin({ ...piece, args: "" }));
    call.id ??= piece.id;
    call.name ??= piece.name;
    call.args += piece.args;
    this.#args.get(call)?.add(piece.args);
    if (call.id !== null) this.#byId.set(call.id, call);
    return call;
  }

  /** Whether the arguments of a call have come to their end. */
  isComplete(call: C): boolean {
    return this.#args.get(call)?.isComplete ?? false;
  }

  /**
   * null: it begins another call. Some engines number all of their calls 0, or none.
   * (1) By its id, if the index is that call's too. (2) Else by its index, or without one to the last call, (3) unless
   * both have ids, which then differ, (4) or names that differ. (5) The same name again is another call only behind
   * arguments that are complete, and with some of its own: there are engines that repeat it with each piece.
   */
  #find({ index, id, name, args }: CallPiece): C | null {
    const named = id === null ? undefined : this.#byId.get(id);
    if (named !== undefined && (index === null || named.index === index)) return named; // (1)
    const call = index === null ? this.all.at(-1) : this.#byIndex.get(index); // (2)
    if (call === undefined) return null;
    if (id !== null && call.id !== null && id !== call.id) return null; // (3)
    if (name === null || call.name === null) return call;
    if (name !== call.name) return null; // (4)
    return args !== "" && this.isComplete(call) ? null : call; // (5)
  }

  #begin(call: C): C {
    this.all.push(call);
    this.#args.set(call, new GrowingObject());
    if (call.index !== null) this.#byIndex.set(call.index, call);
    return call;
  }
}
