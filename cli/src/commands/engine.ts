import type { Command } from "commander";
import type { Io } from "../io.ts";
import type { EngineCommandOptions } from "../run/engine.ts";

export function addEngineCommand(program: Command, io: Io): void {
  program
    .command("engine")
    .description("Run a simulated engine: it answers like a llama-server in router mode, with invented text.")
    .option("--config <file>", "a farm file; --name picks one of its engines and the other flags do not count")
    .option("--name <name>", "the engine's name")
    .option("--host <address>", "where it listens (default: 127.0.0.1)")
    .option("--port <n>", "where it listens; 0 takes a free port (default: 8080)")
    .option("--models <a,b>", "chat models, with commas (default: demo-chat,demo-code)")
    .option("--embedding <a,b>", "embedding models")
    .option("--rerank <a,b>", "rerank models")
    .option("--audio <a,b>", "models that speak, transcribe and hold realtime sessions")
    .option("--image <a,b>", "models that draw")
    .option("--loaded <a,b>", "the models that are loaded at start")
    .option("--load <duration>", "time to load a model (default: 2s)")
    .option("--max-loaded <n>", "models loaded at once; 0 = no limit (default: 4)")
    .option("--no-autoload", "refuse a request for a model that is not loaded, instead of loading it")
    .option("--single", "one model, loaded at start, as `llama-server -m` has it")
    .option("--slots <n>", "requests that a model serves at once (default: 4)")
    .option("--prompt-speed <n>", "prompt tokens a second; 0 = at once (default: 2000)")
    .option("--tokens-per-second <n>", "answer tokens a second of one slot; 0 = at once (default: 50)")
    .option("--context <n>", "context length of its models, in tokens")
    .option(
      "--apis <a,b>",
      "the APIs that it speaks, such as chat,embeddings; every other path is not found (default: all)",
    )
    .option("--api-key <key>", "the key that callers must send")
    .option(
      "--fail <form...>",
      "what goes wrong: FORM[@MODEL][:N][%P], where FORM is refuse, hang, slow, slow-N, 503-loading, reset-after-N-bytes, status-N, catalog-N or load-fails",
    )
    .action(async (options: EngineCommandOptions) => {
      const { runEngine } = await import("../run/engine.ts");
      await runEngine(options, io);
    });
}
