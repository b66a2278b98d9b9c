import {
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
  type Document,
  type Pair,
  visit,
  type YAMLMap,
} from "yaml";

/** Where in a YAML text what is. Keys are looked up, not searched for: a file may have ten thousand, all of them wrong. */
export class DocumentLines {
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

  constructor(document: Document.Parsed, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
  }

  /** The line of what the path leads to: of its key, where it has one. Of a path that ends early, where it ends. */
  lineOf(path: readonly PropertyKey[]): number | null {
    let node: unknown = this.#document.contents;
    let line = this.#lineOfNode(node);
    for (const step of path) {
      let place: unknown;
      if (isMap(node)) {
        const pair = this.#pairsOf(node).get(String(step));
        place = pair?.key;
        node = pair?.value;
      } else {
        node = isSeq(node) ? node.items[Number(step)] : undefined;
        place = node;
      }
      if (place === undefined) break;
      line = this.#lineOfNode(place) ?? line;
    }
    return line;
  }

  /**
   * Each later one of a key that a mapping has more than once, and each key that is no text but a list or a mapping:
   * the reader would write one out again for every level that it stands in.
   */
  keysThatCannotBe(): { line: number | null; message: string }[] {
    const found: { line: number | null; message: string }[] = [];
    visit(this.#document, {
      Map: (_, map) => {
        const seen = new Set<unknown>();
        for (const { key } of map.items) {
          const value = isScalar(key) ? String(key.value) : key;
          if (isCollection(key)) found.push({ line: this.#lineOfNode(key), message: "Map keys must be plain values" });
          if (seen.has(value)) found.push({ line: this.#lineOfNode(key), message: "Map keys must be unique" });
          seen.add(value);
        }
      },
    });
    return found;
  }

  #lineOfNode(node: unknown): number | null {
    return isNode(node) && node.range ? this.#lines.linePos(node.range[0]).line : null;
  }

  #pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    let pairs = this.#pairs.get(map);
    if (pairs === undefined) {
      pairs = new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : [])));
      this.#pairs.set(map, pairs);
    }
    return pairs;
  }
}
