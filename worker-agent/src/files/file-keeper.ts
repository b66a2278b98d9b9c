import { type Clock, formatDuration, formatSize } from "@farmgate/shared";
import type { Log, Upstreams } from "@farmgate/wire";
import type { AgentConfig } from "../config.ts";
import type { AgentMetrics } from "../metrics.ts";
import { pause } from "../swap/pause.ts";
import { Arrival } from "./arrival.ts";
import { ByteRate } from "./byte-rate.ts";
import { choosePeer, type ChosenPeer } from "./choose-peer.ts";
import { type ComingFile, leftMs, NOT_COMING, speedOf } from "./coming-file.ts";
import { fetchFile } from "./fetch-file.ts";
import { FileStates, type WeightsState } from "./file-states.ts";
import type { FileEntry } from "./listing.ts";
import { type ModelFile, modelFilesOf } from "./model-files.ts";
import { PeerRates } from "./peer-rates.ts";
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
  /** A file of these models came, and what was just written is in the page cache. */
  onHere: (models: readonly string[]) => void;
  clock: Clock;
  log: Log;
}

type Chosen = Extract<ChosenPeer, { kind: "from" }>;
type Brought = { kind: "whole" } | { kind: "tried" } | { kind: "broke"; why: string };

/** Brings the files that this machine's models lack from its peers, one after the other. */
export class FileKeeper {
  readonly shelf: Shelf;
  readonly files: readonly ModelFile[];
  /** Of what is sent. */
  readonly sending: ByteRate;
  readonly #receiving: ByteRate;
  readonly #options: FileKeeperOptions;
  readonly #states: FileStates;
  readonly #rates = new PeerRates();
  #takers = 0;
  readonly #stop = new AbortController();
  /** Ends the pause between two looks. */
  #hurry = () => {};
  #rounds: Promise<unknown> = Promise.resolve();

  constructor(options: FileKeeperOptions) {
    const { config, directory } = options;
    this.#options = options;
    this.shelf = new Shelf(directory);
    this.files = modelFilesOf(config);
    this.#states = new FileStates(this.files);
    this.sending = new ByteRate(config.files.rate);
    this.#receiving = new ByteRate(config.files.rate);
  }

  /** Looks at what is here from now on, also while a file comes; and brings what is missing, where peers could have it. */
  start(): void {
    const { config, clock } = this.#options;
    const rest = () => pause(LOOK_EVERY_MS, clock, this.#stop.signal);
    const looking = this.#repeat(() => this.#lookAtAll(), rest);
    const hasPeers = config.files.peers.length > 0;
    const bringing = hasPeers
      ? this.#repeat(
          () => this.#bringRound(),
          () => this.#restUntilHurried(),
        )
      : null;
    this.#rounds = Promise.all([looking, bringing]);
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

  /** Somebody takes a file; what comes back is called when that is over. */
  taken(): () => void {
    this.#takers += 1;
    return () => {
      this.#takers -= 1;
    };
  }

  /** What a taker can count with, as `/files` tells it. */
  sendingNow(): { takers: number; bytes_per_second: number } {
    return { takers: this.#takers, bytes_per_second: this.#options.config.files.rate };
  }

  /** Every file of the models and where it stands. */
  async list(): Promise<FileEntry[]> {
    const now = this.#options.clock.now();
    return Promise.all(
      this.files.map(async ({ path, models }) => {
        const here = await this.#look(path);
        if (here !== null) return { path, models: [...models], state: "here", ...here };
        const coming = this.#states.coming(path);
        const { state, bytes, fetched, from, error } = coming;
        const speed = speedOf(coming, now);
        const left = leftMs(coming, speed);
        const pace = { bytes_per_second: speed && Math.round(speed), left_ms: left && Math.round(left) };
        const more = { ...(from !== null && { from, ...pace }), ...(error !== null && { error }) };
        return { path, models: [...models], state, bytes, sha256: null, fetched, ...more };
      }),
    );
  }

  /** Why the model cannot be loaded yet, as a sentence; null: its files are here. */
  async missingFor(model: string): Promise<string | null> {
    for (const { path, models } of this.files) {
      if (!models.includes(model) || (await this.#look(path)) !== null) continue;
      const { state, bytes, fetched, error } = this.#states.coming(path);
      this.lookNow();
      if (state === "fetching" && bytes !== null) {
        return `its file ${path} is on its way: ${formatSize(fetched)} of ${formatSize(bytes)} are here`;
      }
      return `its file ${path} is not here${error === null ? "" : `: ${error}`}`;
    }
    return null;
  }

  /** What was seen last of a model's files. */
  weightsOf(model: string, now: number): WeightsState {
    const { peers } = this.#options.config.files;
    const best = Math.max(...peers.map(({ url }) => this.#rates.of(url, now) ?? 0));
    return this.#states.weightsOf(model, (coming) => speedOf(coming, now) ?? (best > 0 ? best : null));
  }

  async #look(path: string): Promise<{ bytes: number; sha256: string | null } | null> {
    const look = await this.shelf.look(path);
    this.#states.saw(path, look?.bytes ?? null);
    return look;
  }

  async #lookAtAll(): Promise<void> {
    for (const { path } of this.files) this.#states.saw(path, await this.shelf.bytesOf(path));
  }

  /** A round that fails is logged, and does not keep the next one. */
  async #repeat(round: () => Promise<void>, rest: () => Promise<void>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await round();
      } catch (error) {
        this.#options.log.error({ err: error }, "a look at the files of the models failed");
      }
      await rest();
    }
  }

  async #bringRound(): Promise<void> {
    const { clock } = this.#options;
    const end = clock.now() + LOOK_EVERY_MS;
    // What peers still read for its hash does not hold up the rest.
    for (let left = await this.#bringAll(this.files); left.length > 0 && clock.now() < end; ) {
      await pause(HASHING_MS, clock, this.#stop.signal);
      left = await this.#bringAll(left);
    }
  }

  async #restUntilHurried(): Promise<void> {
    const { clock } = this.#options;
    const hurried = new AbortController();
    this.#hurry = () => hurried.abort();
    // However many ask for what is not here.
    await pause(LEAST_PAUSE_MS, clock, this.#stop.signal);
    if (!this.#stop.signal.aborted) await pause(LOOK_EVERY_MS - LEAST_PAUSE_MS, clock, hurried.signal);
  }

  /** Those that a peer has, but cannot tell the hash of yet. */
  async #bringAll(files: readonly ModelFile[]): Promise<ModelFile[]> {
    const later: ModelFile[] = [];
    for (const file of files) {
      if (this.#stop.signal.aborted || (await this.#look(file.path)) !== null) continue;
      if ((await this.#bring(file)) === "later") later.push(file);
    }
    return this.#stop.signal.aborted ? [] : later;
  }

  async #bring(file: ModelFile): Promise<"later" | "done"> {
    const { config, upstreams, clock } = this.#options;
    const failed = new Set<string>();
    let error = "";
    while (!this.#stop.signal.aborted) {
      const offers = await askPeers(config.files.peers, file.path, upstreams, clock, this.#stop.signal);
      const of = (url: string) => this.#rates.of(url, clock.now());
      const chosen = choosePeer(offers, file.sha256, failed, { of, limit: config.files.rate });
      if (chosen.kind === "later") {
        this.#comesLater(file.path);
        return "later";
      }
      if (chosen.kind === "nobody") error = chosen.why;
      if (chosen.kind !== "from") break;
      const brought = await this.#bringFrom(file, chosen);
      if (brought.kind === "whole") return "done";
      if (brought.kind === "tried") continue;
      const { url } = chosen.source.peer;
      error = `${url}: ${brought.why}`;
      failed.add(url);
    }
    if (this.#stop.signal.aborted) return "done";
    const coming = this.#states.coming(file.path);
    this.#states.comes(file.path, { ...coming, state: "failed", from: null, began: null, error });
    this.#options.log.warn({ file: file.path, error }, `${file.path} could not be fetched`);
    return "done";
  }

  /** What was fetched until now waits for a peer that can tell its hash. */
  #comesLater(path: string): void {
    const coming = this.#states.coming(path);
    if (coming.state !== "fetching") return;
    this.#states.comes(path, { ...coming, state: "missing", from: null, began: null, expected: null });
  }

  async #bringFrom({ path, models }: ModelFile, { source, ms, others }: Chosen): Promise<Brought> {
    const { config, upstreams, metrics, clock, log } = this.#options;
    const { peer, bytes, sha256 } = source;
    const from = peer.url;
    const known = this.#rates.of(from, clock.now());
    const coming: ComingFile = { ...NOT_COMING, state: "fetching", bytes, from, expected: known };
    this.#states.comes(path, coming);
    const word = ms === null ? "its speed is not known yet" : `about ${formatDuration(ms)}`;
    const line = { file: path, bytes, from, models, bytesPerSecond: known && Math.round(known) };
    log.info(line, `fetching ${path} (${formatSize(bytes)}) from ${from}: ${word}`);
    const startedAt = clock.now();
    const arrival = new Arrival();
    const trial = known === null && others > 0 ? new AbortController() : null;
    const trouble = await fetchFile({
      upstream: upstreams.to(peer),
      apiKey: peer.apiKey,
      path,
      bytes,
      sha256,
      rate: this.#receiving,
      clock,
      signal: trial === null ? this.#stop.signal : AbortSignal.any([this.#stop.signal, trial.signal]),
      received: (count) => metrics.fileBytes("in", count),
      shelf: this.shelf,
      agent: config.name,
      progress: (at) => {
        arrival.reached(at, clock.now());
        coming.fetched = at;
        coming.began = arrival.began;
        if (arrival.isEnough(clock.now()) && at < bytes) trial?.abort();
      },
    });
    const now = clock.now();
    const isTried = trial?.signal.aborted === true;
    const came = arrival.came(trouble === null, now);
    if (came !== null && !this.#stop.signal.aborted) this.#rates.came(from, came, now);
    const speed = this.#rates.of(from, now);
    const measured = speed === null ? "" : `, ${formatSize(speed)}/s`;
    if (trouble !== null && isTried) {
      log.info({ file: path, from, bytesPerSecond: speed }, `${path}: ${from} is measured now${measured}`);
      return { kind: "tried" };
    }
    if (trouble !== null) return { kind: "broke", why: trouble };
    this.#states.saw(path, bytes);
    this.#options.onHere(models);
    log.info(
      { file: path, bytes, from, ms: Math.round(now - startedAt), bytesPerSecond: speed && Math.round(speed) },
      `${path} is here after ${formatDuration(now - startedAt)}${measured}`,
    );
    return { kind: "whole" };
  }
}
