import type { CancelTimer, Clock } from "@farmgate/shared";
import { HubRoom } from "../room/hub-room.ts";
import type { FromRoom, Port, ToRoom } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import { readCounts, sentCounts } from "./sent-counts.ts";

/** Changed counts are passed on at the latest after so many milliseconds. */
const GATHER_MS = 5;

interface Asked {
  asker: string;
  number: number;
  waitedFor: Set<string>;
}

/** Keeps the room in which processes meet, at the end of their channels. */
export class RoomDesk {
  readonly #clock: Clock;
  readonly #room: HubRoom;
  readonly #outboxes = new Map<string, Outbox<FromRoom>>();
  #asked: Asked[] = [];
  #tellingChanges: CancelTimer | null = null;

  /** `fence`: above those of all earlier rooms. */
  constructor(clock: Clock, fence: number) {
    this.#clock = clock;
    this.#room = new HubRoom(fence);
  }

  /** A member may join through this channel, until it is closed. */
  connect(member: string, port: Port<ToRoom, FromRoom>): void {
    const outbox = new Outbox<FromRoom>((messages) => port.send(messages));
    port.listen({
      messages: (messages) => {
        for (const message of messages) this.#take(member, outbox, message);
      },
      opened: () => {},
      closed: () => this.#leave(member),
    });
  }

  #take(member: string, outbox: Outbox<FromRoom>, message: ToRoom): void {
    switch (message.kind) {
      case "join":
        this.#forgetAsked(member);
        this.#room.join(member);
        this.#outboxes.set(member, outbox);
        this.#room.tell(member, { answered: 0, ...readCounts(message) });
        this.#tellMembers();
        outbox.post({ kind: "others", isAll: true, ...sentCounts(this.#room.othersOf(member)) });
        return this.#tellChanges();
      case "counts":
        this.#room.tell(member, { answered: message.answered, ...readCounts(message) });
        return this.#tellSoon();
      case "claim": {
        const { number, claim } = message;
        outbox.post({ kind: "claimed", number, claimed: this.#room.claim(member, number, claim, this.#clock.now()) });
        return this.#tellSoon();
      }
      case "news":
        return this.#toOthers(member, { kind: "news", from: member, news: message.news });
      case "ask":
        return this.#ask(member, message);
      case "answer":
        return this.#answer(member, message);
      case "ask-lease":
        this.#room.askLease(member, message.name);
        return this.#tellLeases();
      case "give-up-lease":
        this.#room.giveUpLease(member, message.name);
        return this.#tellLeases();
      case "leave":
        return this.#leave(member);
    }
  }

  #leave(member: string): void {
    if (!this.#outboxes.delete(member)) return;
    this.#room.leave(member);
    this.#forgetAsked(member);
    this.#tellMembers();
    this.#tellLeases();
    this.#tellChanges();
  }

  /** It waits for no answers any more, and gives none. */
  #forgetAsked(member: string): void {
    this.#asked = this.#asked.filter(({ asker }) => asker !== member);
    for (const asked of this.#asked) this.#heardOf(asked, member);
  }

  #ask(member: string, { number, question }: Extract<ToRoom, { kind: "ask" }>): void {
    const asked = { asker: member, number, waitedFor: new Set(this.#outboxes.keys()) };
    this.#asked.push(asked);
    this.#toOthers(member, { kind: "question", from: member, number, question });
    this.#heardOf(asked, member);
  }

  #answer(member: string, { to, number, value }: Extract<ToRoom, { kind: "answer" }>): void {
    const asked = this.#asked.find((one) => one.asker === to && one.number === number);
    if (asked === undefined) return;
    if (value !== undefined) this.#outboxes.get(to)?.post({ kind: "answer", from: member, number, value });
    this.#heardOf(asked, member);
  }

  #heardOf(asked: Asked, member: string): void {
    asked.waitedFor.delete(member);
    if (asked.waitedFor.size > 0) return;
    this.#asked = this.#asked.filter((one) => one !== asked);
    this.#outboxes.get(asked.asker)?.post({ kind: "answered", number: asked.number });
  }

  #toOthers(member: string, message: FromRoom): void {
    for (const [other, outbox] of this.#outboxes) if (other !== member) outbox.post(message);
  }

  #tellMembers(): void {
    for (const outbox of this.#outboxes.values()) outbox.post({ kind: "members", members: this.#room.members() });
  }

  #tellLeases(): void {
    for (const [member, outbox] of this.#outboxes) {
      outbox.post({ kind: "leases", held: [...this.#room.leasesOf(member)] });
    }
  }

  #tellSoon(): void {
    this.#tellingChanges ??= this.#clock.after(GATHER_MS, () => this.#tellChanges());
  }

  #tellChanges(): void {
    this.#tellingChanges?.();
    this.#tellingChanges = null;
    for (const [member, changes] of this.#room.takeChanges()) {
      this.#outboxes.get(member)?.post({ kind: "others", ...sentCounts(changes) });
    }
  }
}
