import type { Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { News, Question } from "../news.ts";
import { OpenQuestions } from "../open-questions.ts";
import type { FarmKeys } from "./farm-keys.ts";
import { type Answer, messageOf, MOST_TOLD, type Told } from "./messages.ts";

export interface TalkOptions {
  id: string;
  clock: Clock;
  log: Log;
  keys: FarmKeys;
  publish: (channel: string, message: string) => void;
}

/** News that come from others, and questions both ways. */
export class Talk {
  readonly #options: TalkOptions;
  readonly #questions: OpenQuestions;
  readonly #onNews = new Set<(news: News, from: string) => void>();
  readonly #onQuestion = new Set<(question: Question, from: string) => unknown>();

  constructor(options: TalkOptions) {
    this.#options = options;
    this.#questions = new OpenQuestions(options.clock);
  }

  onNews(listener: (news: News, from: string) => void): () => void {
    this.#onNews.add(listener);
    return () => this.#onNews.delete(listener);
  }

  onQuestion(answer: (question: Question, from: string) => unknown): () => void {
    this.#onQuestion.add(answer);
    return () => this.#onQuestion.delete(answer);
  }

  ask(others: readonly string[], question: Question, timeoutMs: number): Promise<ReadonlyMap<string, unknown>> {
    const { id, keys, publish } = this.#options;
    const { number, answers } = this.#questions.begin(others, timeoutMs);
    publish(keys.news, messageOf(id, { question: { number, question } }));
    return answers;
  }

  heard({ news = [], question }: Told, from: string): void {
    for (const one of news) for (const listener of this.#onNews) listener(one, from);
    if (question !== undefined) void this.#answer(question, from);
  }

  answered({ number, value }: Answer, from: string): void {
    this.#questions.answered(number, from, value);
  }

  /** Who has left answers nothing any more. */
  keepOnly(members: readonly string[]): void {
    this.#questions.keepOnly(members);
  }

  end(): void {
    this.#questions.endAll();
  }

  async #answer({ number, question }: { number: number; question: Question }, from: string): Promise<void> {
    const { id, log, keys, publish } = this.#options;
    let value: unknown;
    try {
      for (const answer of this.#onQuestion) value ??= await answer(question, from);
    } catch (err) {
      log.error({ err, question: question.kind }, "a question of another gateway was not answered");
    }
    let message = messageOf(id, { number, value });
    if (message.length > MOST_TOLD) {
      log.warn({ characters: message.length, question: question.kind }, "an answer to another gateway is too long");
      message = messageOf(id, { number });
    }
    publish(keys.answersTo(from), message);
  }
}
