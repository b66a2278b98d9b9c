import * as fc from "fast-check";

interface ArbitraryCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A whole answer of chat, as an engine could give it. */
export interface ArbitraryAnswer {
  model: string;
  choices: [
    {
      index: 0;
      message: { role: "assistant"; reasoning_content: string; content: string; tool_calls: ArbitraryCall[] };
      finish_reason: string;
    },
  ];
  usage: object;
}

const text = fc.string({ unit: "binary", maxLength: 40 });
const count = fc.nat(100_000);
// What JSON.parse makes of `__proto__` is no member that an assignment would make.
const member = fc.string({ unit: "grapheme" }).filter((key) => key !== "__proto__");
const input = fc.dictionary(member, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });

/** All text, of any kind, in the order in which models say it: thoughts, text, calls. */
export const arbitraryAnswer: fc.Arbitrary<ArbitraryAnswer> = fc
  .record({
    thinking: text,
    content: text,
    calls: fc.uniqueArray(fc.record({ id: fc.stringMatching(/^[a-z0-9]{1,9}$/), name: text, input }), {
      selector: ({ id }) => id,
      maxLength: 4,
    }),
    finish: fc.constantFrom("stop", "length", "tool_calls", "content_filter"),
    usage: fc.record({ prompt_tokens: count, completion_tokens: count }),
    space: fc.constantFrom("", " ", "\n\t"),
  })
  .map(({ thinking, content, calls, finish, usage, space }) => ({
    model: "m-own",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          reasoning_content: thinking,
          content,
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name || "f", arguments: JSON.stringify(call.input) + space },
          })),
        },
        finish_reason: finish,
      },
    ],
    usage,
  }));

/** Its stream: text in pieces, the pieces of its calls mixed as `order` says, each call's own in their order. */
export function shuffledChunks({ model, choices, usage }: ArbitraryAnswer, order: readonly number[]): object[] {
  const [{ message, finish_reason }] = choices;
  const chunk = (delta: object, finish: string | null = null) => ({
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const started: object[] = [];
  const rest = message.tool_calls.map(({ id, type, function: { name, arguments: args } }, index) => {
    const [first = "", ...more] = piecesOf(args);
    started.push({ tool_calls: [{ index, id, type, function: { name, arguments: first } }] });
    return more.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }));
  });
  // The calls begin in their order; from then on anything goes.
  const mixed: object[] = [...started];
  for (let i = 0; rest.some((pieces) => pieces.length > 0); i += 1) {
    const left = rest.filter((pieces) => pieces.length > 0);
    const next = left[(order[i % Math.max(1, order.length)] ?? i) % left.length]?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return [
    chunk({ role: "assistant", content: null }),
    ...piecesOf(message.reasoning_content).map((piece) => chunk({ reasoning_content: piece })),
    ...piecesOf(message.content).map((piece) => chunk({ content: piece })),
    ...mixed.map((delta) => chunk(delta)),
    chunk({}, finish_reason),
    { model, choices: [], usage },
  ];
}

/** The bytes in pieces, cut at these places, which are taken by the length. */
export function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}

/** Three code units each: halves of surrogate pairs, too. */
function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,3}/g) ?? [];
}
