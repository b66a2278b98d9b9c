interface OllamaModel {
  /** With its tag, as Ollama shows it. */
  name: string;
  kind?: "chat" | "embedding";
  /** Beside answering. */
  can?: readonly string[];
  /** Bytes while loaded. */
  memory?: number;
  quantization?: string;
  digest?: string;
}

export interface OllamaOptions {
  models: readonly (string | OllamaModel)[];
  loadMs?: number;
  /** `OLLAMA_MAX_LOADED_MODELS`: for one more, an idle model is unloaded by its own will. */
  maxLoaded?: number;
  /** How long an answer takes once the model is loaded. */
  answerMs?: number;
  apiKey?: string;
  /** Paths that it does not have, as older ones: `/api/embed`, or with all below it `/v1/`. */
  lacks?: readonly string[];
}

interface OllamaEvent {
  /** Milliseconds since the epoch. */
  at: number;
  what: "load" | "loaded" | "load failed" | "unloaded" | "request" | "answered";
  model: string;
  /** Of an unload: by a client's order, for room, for time, or because the process died. */
  why?: "order" | "room" | "expired" | "died";
  /** Models in memory, loading ones too, after it. */
  inMemory: number;
  /** Requests that are being answered, after it. */
  active: number;
}

type OllamaUse = { failure: string } | { release: () => void };

interface Runner {
  model: string;
  loading: boolean;
  active: number;
  /** Seconds; negative: for ever. */
  keepAlive: number;
  lastUsed: number;
  timer: NodeJS.Timeout | null;
  /** Unload it as soon as it is idle. */
  leaving: "order" | "room" | null;
}

const DEFAULT_KEEP_ALIVE = 300;
const LOOK_MS = 2;

/**
 * What Ollama does with its models: one load at a time, requests of a loaded model pass those that wait for a load, the
 * idle model with the shortest keep-alive (of equal ones the least recently used) leaves for another, or else the load
 * waits. A request without a keep-alive of its own leaves that of its model as it is.
 */
export class OllamaModels {
  readonly #options: Required<Pick<OllamaOptions, "loadMs" | "maxLoaded" | "answerMs">>;
  #specs: Required<OllamaModel>[];
  readonly #runners = new Map<string, Runner>();
  /** What happened, oldest first. */
  readonly events: OllamaEvent[] = [];
  readonly #failing = new Set<string>();
  #loads: Promise<unknown> = Promise.resolve();
  #uses = 0;
  /** Counts deaths: what was under way before one comes to nothing. */
  #life = 0;

  constructor({ models, loadMs = 0, maxLoaded = 0, answerMs = 0 }: OllamaOptions) {
    this.#specs = models.map(completed);
    this.#options = { loadMs, maxLoaded, answerMs };
  }

  set loadMs(ms: number) {
    this.#options.loadMs = ms;
  }

  set answerMs(ms: number) {
    this.#options.answerMs = ms;
  }

  /** Replaces what is on the disk. */
  setModels(models: OllamaOptions["models"]): void {
    this.#specs = models.map(completed);
  }

  /** Whether loads of this model fail from now on. */
  setFailing(model: string, fails: boolean): void {
    if (fails) this.#failing.add(model);
    else this.#failing.delete(model);
  }

  find(name: string): Required<OllamaModel> | undefined {
    const wanted = withTag(name).toLowerCase();
    return this.#specs.find((spec) => spec.name.toLowerCase() === wanted);
  }

  /** Names of the models that are ready. */
  loaded(): string[] {
    return [...this.#runners.values()].filter((runner) => !runner.loading).map((runner) => runner.model);
  }

  /** Seconds that a loaded model stays without a request; negative: for ever. */
  keepAlive(model: string): number | null {
    return this.#runners.get(model)?.keepAlive ?? null;
  }

  /** How many models were in memory at the same time at most. */
  mostInMemory(): number {
    return Math.max(0, ...this.events.map((event) => event.inMemory));
  }

  /** How often this happened, to this model or to any. */
  count(what: OllamaEvent["what"], model?: string): number {
    return this.events.filter((event) => event.what === what && (model === undefined || event.model === model)).length;
  }

  /** One use of a model: loads it when needed, takes time for an answer, and ends when `release` is called. */
  async use(model: string, keepAlive: number | null, answers: boolean): Promise<OllamaUse> {
    if (answers) this.#note("request", model);
    const life = this.#life;
    const runner = this.#usable(model) ?? (await this.#load(model));
    if (runner === null) return { failure: `llama runner process has terminated: error loading model ${model}` };
    runner.active += 1;
    this.#uses += 1;
    runner.lastUsed = this.#uses;
    if (runner.timer !== null) clearTimeout(runner.timer);
    if (keepAlive !== null) runner.keepAlive = keepAlive;
    if (answers) await wait(this.#options.answerMs);
    if (answers && life === this.#life) this.#note("answered", model);
    return { release: () => this.#release(runner) };
  }

  #release(runner: Runner): void {
    runner.active -= 1;
    if (runner.active > 0) return;
    if (runner.leaving !== null) this.#drop(runner, runner.leaving);
    else if (runner.keepAlive === 0) this.#drop(runner, "expired");
    else if (runner.keepAlive > 0) {
      runner.timer = setTimeout(() => this.#drop(runner, "expired"), runner.keepAlive * 1_000);
      runner.timer.unref();
    }
  }

  /** By a client's order: it leaves at once, or when its running requests have ended. */
  expire(model: string): void {
    const runner = this.#runners.get(model);
    if (runner === undefined) return;
    runner.leaving = "order";
    if (runner.active === 0 && !runner.loading) this.#drop(runner, "order");
  }

  /** By its own will, as when memory is short. Does nothing to a model that is loading or busy. */
  evict(model: string): void {
    const runner = this.#runners.get(model);
    if (runner !== undefined && runner.active === 0 && !runner.loading) this.#drop(runner, "room");
  }

  forgetAll(): void {
    this.#life += 1;
    for (const runner of this.#runners.values()) this.#drop(runner, "died");
  }

  /** When models came into memory and left it. */
  residences(): { at: number; model: string; what: "in" | "out" }[] {
    const sides = { load: "in", unloaded: "out", "load failed": "out" } as const;
    return this.events.flatMap(({ at, model, what }) =>
      what === "load" || what === "unloaded" || what === "load failed" ? [{ at, model, what: sides[what] }] : [],
    );
  }

  tags(): object[] {
    return this.#specs.map(({ name, kind, memory, can, quantization, digest }) => ({
      name,
      model: name,
      size: memory,
      digest,
      details: { format: "gguf", quantization_level: quantization, context_length: 131_072 },
      capabilities: [kind === "embedding" ? "embedding" : "completion", ...can],
    }));
  }

  /** Loading ones too, and nothing tells which they are. */
  running(): object[] {
    return [...this.#runners.keys()].map((name) => {
      const memory = this.find(name)?.memory ?? 0;
      return { name, model: name, size: memory, size_vram: memory, context_length: 4_096 };
    });
  }

  cards(): object[] {
    return this.#specs.map(({ name }) => ({ id: name, object: "model", created: 0, owned_by: "library" }));
  }

  #usable(model: string): Runner | null {
    const runner = this.#runners.get(model);
    return runner === undefined || runner.loading || runner.leaving !== null ? null : runner;
  }

  #load(model: string): Promise<Runner | null> {
    const load = this.#loads.then(() => this.#loadAlone(model));
    this.#loads = load;
    return load;
  }

  async #loadAlone(model: string): Promise<Runner | null> {
    const life = this.#life;
    const gone = () => life !== this.#life;
    for (;;) {
      const there = this.#usable(model);
      if (there !== null) return there;
      const { maxLoaded } = this.#options;
      const isFree = maxLoaded === 0 || this.#runners.size < maxLoaded;
      if (isFree && !this.#runners.has(model)) break;
      if (!this.#runners.has(model)) this.#makeRoom();
      await wait(LOOK_MS);
      if (gone()) return null;
    }
    const runner: Runner = {
      model,
      loading: true,
      active: 0,
      keepAlive: DEFAULT_KEEP_ALIVE,
      lastUsed: 0,
      timer: null,
      leaving: null,
    };
    this.#runners.set(model, runner);
    this.#note("load", model);
    await wait(this.#options.loadMs);
    if (gone()) return null;
    if (this.#failing.has(model) || this.find(model) === undefined) {
      this.#runners.delete(model);
      this.#note("load failed", model);
      return null;
    }
    runner.loading = false;
    this.#note("loaded", model);
    return runner;
  }

  #makeRoom(): void {
    const idle = [...this.#runners.values()].filter((runner) => runner.active === 0 && !runner.loading);
    const endless = (runner: Runner) => (runner.keepAlive < 0 ? Number.MAX_SAFE_INTEGER : runner.keepAlive);
    const [first] = idle.sort((a, b) => endless(a) - endless(b) || a.lastUsed - b.lastUsed);
    if (first !== undefined) this.#drop(first, "room");
  }

  #drop(runner: Runner, why: OllamaEvent["why"] & string): void {
    if (this.#runners.get(runner.model) !== runner) return;
    if (runner.timer !== null) clearTimeout(runner.timer);
    this.#runners.delete(runner.model);
    this.#note("unloaded", runner.model, why);
  }

  #note(what: OllamaEvent["what"], model: string, why?: OllamaEvent["why"]): void {
    const active = [...this.#runners.values()].reduce((sum, runner) => sum + runner.active, 0);
    this.events.push({
      at: Date.now(),
      what,
      model,
      inMemory: this.#runners.size,
      active,
      ...(why === undefined ? {} : { why }),
    });
  }
}

function completed(model: string | OllamaModel): Required<OllamaModel> {
  const given = typeof model === "string" ? { name: model } : model;
  const usual = { kind: "chat", memory: 1_000_000_000, can: [], quantization: "Q4_K_M", digest: "" } as const;
  return { ...usual, ...given, name: withTag(given.name) };
}

function withTag(name: string): string {
  return name.lastIndexOf(":") > name.lastIndexOf("/") ? name : `${name}:latest`;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
