import type { Random } from "@farmgate/shared";

// A few words are not ASCII, so that whoever relays them meets bytes of one letter in two places.
const WORDS = (
  "a the one this that small large old new quiet bright green silver warm cold long short plain early late first last " +
  "river stone garden window table letter engine farm gate field lamp road bridge cloud winter summer morning evening " +
  "paper clock tower market harbour valley forest island mountain kitchen ladder bottle basket engineer baker sailor " +
  "teacher painter farmer neighbour child friend café naïve jalapeño fjörð über 東京 мост λόγος runs walks carries finds " +
  "keeps opens closes turns builds mends paints waters follows remembers counts reads writes sends waits answers asks " +
  "and but while because until before after under over near behind between with without into across along toward " +
  "slowly gently quickly often seldom again always never together alone there here now then soon almost nearly"
).split(" ");

/** `count` tokens of made-up prose, each as a model would stream it: words carry their leading blank. */
export function wordTokens(count: number, random: Random): string[] {
  const tokens: string[] = [];
  let inSentence = 0;
  let length = sentenceLength(random);
  while (tokens.length < count) {
    if (inSentence === length) {
      tokens.push(".");
      inSentence = 0;
      length = sentenceLength(random);
      continue;
    }
    const word = WORDS[Math.floor(random() * WORDS.length)] ?? "word";
    const cased = inSentence === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : word;
    tokens.push(tokens.length === 0 ? cased : ` ${cased}`);
    inSentence += 1;
  }
  return tokens;
}

/** One made-up word of plain ASCII letters. */
export function plainWord(random: Random): string {
  const word = WORDS[Math.floor(random() * WORDS.length)] ?? "word";
  return /^[a-z]+$/.test(word) ? word : "plain";
}

function sentenceLength(random: Random): number {
  return 5 + Math.floor(random() * 9);
}
