import { type Clock, formatDuration, formatSize } from "@farmgate/shared";
import type { Log, Upstreams } from "@farmgate/wire";
import type { AgentConfig } from "../config.ts";
import type { AgentMetrics } from "../metrics.ts";
import { pause } from "../swap/pause.ts";
import { ByteRate } from "./byte-rate.ts";
import { choosePeer, type Source } from "./choose-peer.ts";
import { fetchFile } from "./fetch-file.ts";
import type { FileEntry } from "./listing.ts";
import { type ModelFile, modelFilesOf } from "./model-files.ts";
import { askPeers } from "./peers.ts";
import { Shelf } from "./shelf.ts";

/** Between two looks for what is missing, and at peers that still read a file for its hash; in milliseconds. */
const LOOK_EVERY_MS = 60_000;
const HASHING_MS = 1_000;
const LEAST_PAUSE_MS = 1_000;

export interface FileKeeperOptions {
  config: Pick<AgentConfig, "name" | "files" | "models">;
  /** Absolute. */
  directory: string;
  upstreams: Upstreams;
  metrics: AgentMetrics;
  clock: Clock;
  log: Log;
}

interface Progress {
  state: "missing" | "fetching" | "failed";
  bytes: number | null;
  fetched: number;
  from: string | null;
  error: string | null;
}

/** Brings the files that this machine's models lack from its peers, one after the other. */
export class FileKeeper {
  readonly shelf: Shelf;
  readonly files: readonly ModelFile[];
  /** Of what is sent. */
  readonly sending: ByteRate;
  readonly #receiving: ByteRate;
  readonly #options: FileKeeperOptions;
  /** Of files that are not here. */
  readonly #progress = new Map<string, Progress>();
  readonly #stop = new AbortController();
  /** Ends the pause between two looks. */
  #hurry = () => {};
  #rounds: Promise<void> = Promise.resolve();

  constructor(options: FileKeeperOptions) {
    const { config, directory } = options;
    this.#options = options;
    this.shelf = new Shelf(directory);
    this.files = modelFilesOf(config);
    this.sending = new ByteRate(config.files.rate);
    this.#receiving = new ByteRate(config.files.rate);
  }

  /** Looks for what is missing from now on. */
  start(): void {
    if (this.#options.config.files.peers.length > 0) this.#rounds = this.#goRound();
  }

  /** Ends what is on its way; what came of it stays for the next start. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.shelf.close();
    this.#hurry();
    await this.#rounds;
  }

  /** Looks at once, instead of at its time. */
  lookNow(): void {
    this.#hurry();
  }

  /** Every file of the models and where it stands. */
  async list(): Promise<FileEntry[]> {
    return Promise.all(
      this.files.map(async ({ path, models }) => {
        const here = await this.shelf.look(path);
        if (here !== null) return { path, models: [...models], state: "here", ...here };
        const { state, bytes, fetched, from, error } = this.#progressOf(path);
        const more = { ...(from !== null && { from }), ...(error !== null && { error }) };
        return { path, models: [...models], state, bytes, sha256: null, fetched, ...more };
      }),
    );
  }

  /** Why the model cannot be loaded yet, as a sentence; null: its files are here. */
  async missingFor(model: string): Promise<string | null> {
    for (const { path, models } of this.files) {
      if (!models.includes(model) || (await this.shelf.look(path)) !== null) continue;
      const { state, bytes, fetched, error } = this.#progressOf(path);
      this.lookNow();
      if (state === "fetching" && bytes !== null) {
        return `its file ${path} is on its way: ${formatSize(fetched)} of ${formatSize(bytes)} are here`;
      }
      return `its file ${path} is not here${error === null ? "" : `: ${error}`}`;
    }
    return null;
  }

  #progressOf(path: string): Progress {
    return this.#progress.get(path) ?? { state: "missing", bytes: null, fetched: 0, from: null, error: null };
  }

  async #goRound(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stop.signal.aborted) {
      const end = clock.now() + LOOK_EVERY_MS;
      // What peers still read for its hash does not hold up the rest.
      for (let left = await this.#bringAll(this.files); left.length > 0 && clock.now() < end; ) {
        await pause(HASHING_MS, clock, this.#stop.signal);
        left = await this.#bringAll(left);
      }
      const hurried = new AbortController();
      this.#hurry = () => hurried.abort();
      // However many ask for what is not here.
      await pause(LEAST_PAUSE_MS, clock, this.#stop.signal);
      if (!this.#stop.signal.aborted) await pause(LOOK_EVERY_MS - LEAST_PAUSE_MS, clock, hurried.signal);
    }
  }

  /** Those that a peer has, but cannot tell the hash of yet. */
  async #bringAll(files: readonly ModelFile[]): Promise<ModelFile[]> {
    const later: ModelFile[] = [];
    for (const file of files) {
      if (this.#stop.signal.aborted || (await this.shelf.look(file.path)) !== null) continue;
      if ((await this.#bring(file)) === "later") later.push(file);
    }
    return this.#stop.signal.aborted ? [] : later;
  }

  async #bring(file: ModelFile): Promise<"later" | "done"> {
    const { config, upstreams, clock } = this.#options;
    const failed = new Set<string>();
    let error = "";
    while (!this.#stop.signal.aborted && failed.size < config.files.peers.length) {
      const offers = await askPeers(config.files.peers, file.path, upstreams, clock, this.#stop.signal);
      const chosen = choosePeer(offers, file.sha256, failed);
      if (chosen.kind === "later") return "later";
      const source = chosen.kind === "from" ? chosen.sources.find(({ peer }) => !failed.has(peer.url)) : undefined;
      if (source === undefined) {
        if (chosen.kind === "nobody") error = chosen.why;
        break;
      }
      const trouble = await this.#bringFrom(file, source);
      if (trouble === null) return "done";
      error = `${source.peer.url}: ${trouble}`;
      failed.add(source.peer.url);
    }
    if (this.#stop.signal.aborted) return "done";
    this.#progress.set(file.path, { ...this.#progressOf(file.path), state: "failed", from: null, error });
    this.#options.log.warn({ file: file.path, error }, `${file.path} could not be fetched`);
    return "done";
  }

  async #bringFrom({ path, models }: ModelFile, { peer, bytes, sha256 }: Source): Promise<string | null> {
    const { config, upstreams, metrics, clock, log } = this.#options;
    const progress: Progress = { state: "fetching", bytes, fetched: 0, from: peer.url, error: null };
    this.#progress.set(path, progress);
    log.info({ file: path, bytes, from: peer.url, models }, `fetching ${path} (${formatSize(bytes)}) from ${peer.url}`);
    const startedAt = clock.now();
    const trouble = await fetchFile({
      upstream: upstreams.to(peer),
      apiKey: peer.apiKey,
      path,
      bytes,
      sha256,
      rate: this.#receiving,
      clock,
      signal: this.#stop.signal,
      received: (count) => metrics.fileBytes("in", count),
      shelf: this.shelf,
      agent: config.name,
      progress: (at) => {
        progress.fetched = at;
      },
    });
    if (trouble !== null) return trouble;
    this.#progress.delete(path);
    const ms = clock.now() - startedAt;
    log.info({ file: path, bytes, from: peer.url, ms: Math.round(ms) }, `${path} is here after ${formatDuration(ms)}`);
    return null;
  }
}
