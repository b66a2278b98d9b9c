import type { EngineParameters } from "./parameters.ts";

interface Extent {
  owner: number;
  first: number;
  pages: number;
}

/**
 * The memory of one device as one pool of pages (xTensor): weights in whole extents from the low end, the state of
 * requests from the other end page by page. Pages of state may lie anywhere, so they never stand in the way of weights;
 * weights that left a gap do, and those above it are mapped anew further down when nothing else makes room.
 *
 * Pages that are free are mapped ahead in the background, one after the other, and unmapping is in the background
 * altogether (a page may be mapped anew before its old address goes): only what was not mapped ahead is waited for.
 */
export class MemoryPool {
  readonly pages: number;
  /** Since the start: pages mapped and unmapped, and those mapped anew because of gaps. */
  mapped = 0;
  unmapped = 0;
  remapped = 0;
  /** The most pages that were ever in gaps. */
  mostGap = 0;
  #state = 0;
  #weights = 0;
  /** In order of place. */
  readonly #extents: Extent[] = [];
  #ahead: number;
  #aheadAt = 0;
  readonly #mapMs: number;

  constructor(memoryBytes: number, parameters: EngineParameters) {
    this.pages = Math.floor(memoryBytes / parameters.pageBytes);
    this.#mapMs = parameters.mapUs / 1000;
    this.#ahead = this.pages;
  }

  get weightPages(): number {
    return this.#weights;
  }

  get statePages(): number {
    return this.#state;
  }

  /** Below 0 while weights wait for requests to leave. */
  get freePages(): number {
    return this.pages - this.#weights - this.#state;
  }

  /** Free pages between weights: whole for state, broken for weights. */
  get gapPages(): number {
    const last = this.#extents.at(-1);
    return last === undefined ? 0 : last.first + last.pages - this.#weights;
  }

  /** State of requests; returns the milliseconds that are waited for its pages. */
  takeState(pages: number, now: number): number {
    if (pages > this.freePages) throw new Error(`${pages} pages are wanted, ${this.freePages} are free`);
    const wait = this.#map(pages, now);
    this.#state += pages;
    return wait;
  }

  freeState(pages: number, now: number): void {
    if (pages > this.#state) throw new Error(`${pages} pages are given back, ${this.#state} were taken`);
    this.#settle(now);
    this.#state -= pages;
    this.unmapped += pages;
  }

  /** Keeps the place at once, though requests may have to leave before it can be filled. False: weights fill it. */
  reserveWeights(owner: number, pages: number): boolean {
    if (this.#weights + pages > this.pages) return false;
    let place = this.#gap(pages);
    if (place < 0) {
      this.#closeGaps();
      place = this.#extents.length;
    }
    const before = this.#extents[place - 1];
    this.#extents.splice(place, 0, { owner, first: before === undefined ? 0 : before.first + before.pages, pages });
    this.#weights += pages;
    return true;
  }

  /** What mapping the reserved pages takes, in milliseconds; it goes on beside the copying. */
  mapWeights(pages: number, now: number): number {
    // Reserved already: they are among the free ones for the last time.
    this.#weights -= pages;
    const wait = this.#map(pages, now);
    this.#weights += pages;
    return wait;
  }

  freeWeights(owner: number, now: number): void {
    this.#settle(now);
    const place = this.#extents.findIndex((extent) => extent.owner === owner);
    const [gone] = place < 0 ? [] : this.#extents.splice(place, 1);
    if (gone === undefined) return;
    this.#weights -= gone.pages;
    this.unmapped += gone.pages;
    this.mostGap = Math.max(this.mostGap, this.gapPages);
  }

  /** The place in the list for an extent of so many pages, by first fit; -1: only broken room. */
  #gap(pages: number): number {
    let end = 0;
    for (let place = 0; place < this.#extents.length; place++) {
      const extent = this.#extents[place] as Extent;
      if (extent.first - end >= pages) return place;
      end = extent.first + extent.pages;
    }
    return this.pages - end >= pages ? this.#extents.length : -1;
  }

  #closeGaps(): void {
    let end = 0;
    for (const extent of this.#extents) {
      if (extent.first > end) this.remapped += extent.pages;
      extent.first = end;
      end += extent.pages;
    }
  }

  #map(pages: number, now: number): number {
    this.#settle(now);
    this.mapped += pages;
    const missing = Math.max(0, pages - this.#ahead);
    this.#ahead -= pages - missing;
    return missing * this.#mapMs;
  }

  #settle(now: number): void {
    const passed = now - this.#aheadAt;
    if (passed > 0) this.#ahead += this.#mapMs === 0 ? this.pages : passed / this.#mapMs;
    this.#ahead = Math.min(Math.max(0, this.freePages), this.#ahead);
    this.#aheadAt = now;
  }
}
