import { parseJson } from "@farmgate/shared";

/**
 * A JSON object that comes in pieces, as the arguments of a call do, and whether it is complete. Only its brackets and
 * quotes are followed, so that each piece is read once; it is parsed when they say that it has ended.
 */
export class GrowingObject {
  #text = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  #ended = false;
  #spoiled = false;
  #complete: boolean | null = false;

  get text(): string {
    return this.#text;
  }

  add(piece: string): void {
    this.#text += piece;
    for (let i = 0; i < piece.length && !this.#spoiled; i += 1) this.#step(piece[i] as string);
  }

  /** Nothing but white space can follow any more. */
  get isComplete(): boolean {
    if (!this.#ended || this.#spoiled) return false;
    this.#complete ??= parseJson(this.#text) !== undefined;
    return this.#complete;
  }

  #step(char: string): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (char === "\\") this.#escaped = true;
      else if (char === '"') this.#inString = false;
    } else if (this.#depth === 0) this.#outside(char);
    else if (char === '"') this.#inString = true;
    else if (char === "{" || char === "[") this.#depth += 1;
    else if (char === "}" || char === "]") {
      this.#depth -= 1;
      if (this.#depth > 0) return;
      this.#ended = true;
      this.#complete = null;
    }
  }

  #outside(char: string): void {
    if (/\s/.test(char)) return;
    if (char === "{" && !this.#ended) this.#depth = 1;
    else this.#spoiled = true;
  }
}
