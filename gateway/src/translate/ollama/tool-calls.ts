import { parseJson } from "@farmgate/shared";
import { GrowingObject } from "../growing-object.ts";
import { TranslationError } from "../translation.ts";

/** A piece of a call, as OpenAI-like engines stream it. */
export interface ToolCallPart {
  /** null: not told. */
  index: number | null;
  id: string;
  name: string;
  /** Of the arguments' JSON text. */
  text: string;
}

interface Call {
  id: string;
  name: string;
  args: GrowingObject;
}

/** Joins the pieces of a model's calls. */
export class ToolCalls {
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();

  /**
   * A piece goes on with the call of its index; one without an index with the last call. Some engines count all of
   * their calls 0, or none: another id, another name, or a name behind arguments that are complete begins a new one.
   */
  add(part: ToolCallPart): void {
    const known = part.index === null ? this.#calls.at(-1) : this.#byIndex.get(part.index);
    const open = known !== undefined && !beginsAnother(part, known) ? known : this.#begin();
    if (part.index !== null) this.#byIndex.set(part.index, open);
    open.id ||= part.id;
    open.name ||= part.name;
    open.args.add(part.text);
  }

  /**
   * All calls as Ollama has them. `cut`: the answer ended for its length, and a call whose arguments did not get to
   * their end is none. Throws `TranslationError` for one that is not a call.
   */
  whole(cut: boolean): object[] {
    const whole: object[] = [];
    for (const { id, name, args } of this.#calls) {
      const { text } = args;
      const given = text.trim() === "" ? {} : parseJson(text);
      const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
      if (isObject && name !== "") {
        const called = { index: whole.length, name, arguments: given };
        whole.push(id === "" ? { function: called } : { id, function: called });
      } else if (!cut) throw new TranslationError("a tool call whose arguments are no JSON object");
    }
    return whole;
  }

  #begin(): Call {
    const call: Call = { id: "", name: "", args: new GrowingObject() };
    this.#calls.push(call);
    return call;
  }
}

function beginsAnother(part: ToolCallPart, open: Call): boolean {
  if (part.id !== "" && open.id !== "") return part.id !== open.id;
  if (part.name === "" || open.name === "") return false;
  return part.name !== open.name || part.index === null || open.args.isComplete;
}
