// One GGUF file in memory, and one generation at a time on it.

/**
 * @typedef {object} Ask
 * @property {string} prompt
 * @property {number} maxTokens
 * @property {number} temperature
 * @property {number | undefined} seed
 * @property {string[]} stop
 * @property {boolean} ignoreEos where the story ends, tell another until `maxTokens`
 * @property {AbortSignal} signal
 * @property {(text: string) => void} onText
 *
 * @typedef {object} Outcome
 * @property {string} text
 * @property {"stop" | "length" | "cancelled"} finish
 * @property {number} promptTokens
 * @property {number} tokens
 * @property {number} promptMs until the first token
 * @property {number} tokenMs from the first token to the last
 */

/** The prompt leaves no room for even one token of an answer. */
export class PromptTooLong extends Error {
  /** @param {number} promptTokens @param {number} contextSize */
  constructor(promptTokens, contextSize) {
    super(`the prompt has ${promptTokens} tokens, the context holds ${contextSize}`);
    this.promptTokens = promptTokens;
    this.contextSize = contextSize;
  }
}

/** @param {string} path */
export async function loadModel(path) {
  // Imported here, so that the server is already listening while the library starts.
  const { getLlama, LlamaCompletion, LlamaLogLevel } = await import("node-llama-cpp");

  // One thread: with more threads than free cores the threads wait for each other and a model this small crawls.
  const llama = await getLlama({
    gpu: false,
    maxThreads: 1,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.error,
  });
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const context = await model.createContext({ contextSize: model.trainContextSize, sequences: 1, threads: 1 });
  const completion = new LlamaCompletion({ contextSequence: context.getSequence() });

  /** @param {Ask} ask @returns {Promise<Outcome>} */
  async function run(ask) {
    const promptTokens = model.tokenize(ask.prompt).length + 1;
    if (promptTokens >= context.contextSize) throw new PromptTooLong(promptTokens, context.contextSize);
    const started = performance.now();
    let first = started;
    let last = started;
    let tokens = 0;
    let text = "";
    /** @type {Outcome["finish"]} */
    let finish = "cancelled";
    let again = !ask.signal.aborted;
    while (again) {
      const round = completion.generateCompletionWithMeta(ask.prompt, {
        maxTokens: ask.maxTokens - tokens,
        temperature: ask.temperature,
        seed: ask.seed,
        customStopTriggers: ask.stop,
        signal: ask.signal,
        stopOnAbortSignal: true,
        onToken(batch) {
          last = performance.now();
          if (tokens === 0) first = last;
          tokens += batch.length;
        },
        onTextChunk: ask.onText,
      });
      const { response, metadata } = await round.catch((error) => {
        // A caller who leaves before the first token makes it throw all the same.
        if (!ask.signal.aborted) throw error;
        return { response: "", metadata: { stopReason: "abort" } };
      });
      text += response;
      if (ask.signal.aborted) finish = "cancelled";
      else finish = metadata.stopReason === "maxTokens" ? "length" : "stop";
      // The library lets nobody forbid the token that ends a text, so a story without end is one after the other.
      again = ask.ignoreEos && metadata.stopReason === "eogToken" && tokens < ask.maxTokens && !ask.signal.aborted;
    }
    return { text, finish, promptTokens, tokens, promptMs: first - started, tokenMs: last - first };
  }

  let tail = Promise.resolve();
  return {
    contextSize: context.contextSize,

    /** Waits for its turn: the model serves one request after the other. @param {Ask} ask */
    generate(ask) {
      const answer = tail.then(() => run(ask));
      tail = answer.then(
        () => {},
        () => {},
      );
      return answer;
    },

    /** After the running generation has ended. */
    async dispose() {
      await tail;
      await llama.dispose();
    },
  };
}
