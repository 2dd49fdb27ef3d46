// The three kinds of body, and how an event of each kind is written. Deterministic. A speed that holds only on regular
// bodies is not a speed.
//   regular   every event has the same shape, and the words repeat
//   real      as hosts send them today: padding, obfuscation, texts with escapes and emoji, text between the fragments
//   hostile   nothing repeats: the order of the keys, numbers and times in each event, escapes

const WORDS = [
  " the",
  " of",
  " stream",
  " event",
  " token",
  " naïve",
  " 東京",
  " 🙂",
  ' "quoted"',
  " back\\slash",
  " line\n",
  " {json}",
];

/** Numbers from 0 up to 1 that look random and depend only on the seed. */
function randomFrom(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 32;
  };
}

const SYLLABLES = [
  "a",
  "e",
  "t",
  ".",
  "on",
  " the",
  " ",
  "ing",
  ", ",
  '"',
  "\\",
  "\n",
  "\t",
  "é",
  "東",
  "🙂",
  "{",
  "}",
  ":",
  "=",
  "(",
  ")",
  "\u2028",
  "0",
  "42",
  " stream",
  " const",
  " =>",
  "`",
  "'",
];
/** A word of 1 to some 40 characters; most are short. */
function drawWord(index) {
  const random = randomFrom(index * 7 + 13);
  const length = 1 + Math.floor(random() * random() * 40);
  let drawn = "";
  while (drawn.length < length) drawn += SYLLABLES[Math.floor(random() * SYLLABLES.length)];
  return drawn;
}

const toHex = (random, length) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join("");
const shuffle = (value, random) =>
  Object.fromEntries(
    Object.entries(value)
      .map((entry) => [random(), entry])
      .sort(([one], [other]) => one - other)
      .map(([, entry]) => entry),
  );
/** JSON with `\\u` escapes in every second text. */
function writeSomeEscapes(value, random) {
  const json = JSON.stringify(value);
  if (random() < 0.5) return json;
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** How the events of each kind of body are written. `at` is a different number for each event of a body. */
export const KINDS = {
  regular: {
    word: (index) => WORDS[index % WORDS.length],
    openai: (value) => JSON.stringify(value),
    anthropic: (value) => JSON.stringify(value),
    gemini: (value) => JSON.stringify(value),
    line: (value) => JSON.stringify(value),
    uuid: (index) => `748f80f0-c9cf-41eb-a49e-${index.toString(16).padStart(12, "0")}`,
  },
  real: {
    word: drawWord,
    hasTextBetween: true,
    openai(value, at) {
      const random = randomFrom(at * 31);
      const obfuscation = toHex(random, 1 + Math.floor(random() * 16));
      return JSON.stringify({ ...value, service_tier: "default", usage: value.usage ?? null, obfuscation });
    },
    anthropic(value, at) {
      const padding = " ".repeat(Math.floor(randomFrom(at * 17)() * 16));
      return `${JSON.stringify(value).slice(0, -1)}${padding}}`;
    },
    gemini: (value) => JSON.stringify(value),
    line: (value) => JSON.stringify(value),
    uuid(index) {
      const digits = toHex(randomFrom(index * 11), 32);
      return [
        [0, 8],
        [8, 12],
        [12, 16],
        [16, 20],
        [20, 32],
      ]
        .map(([from, to]) => digits.slice(from, to))
        .join("-");
    },
  },
  hostile: {
    word: drawWord,
    hasTextBetween: true,
    openai(value, at) {
      const random = randomFrom(at * 31);
      const usage = value.usage ?? { prompt_tokens: 5, completion_tokens: at, total_tokens: 5 + at };
      const choices = value.choices.map((choice) =>
        shuffle({ ...choice, logprobs: drawLogprobs(choice, random) }, random),
      );
      return writeSomeEscapes(shuffle({ ...value, created: value.created + at, choices, usage }, random), random);
    },
    anthropic(value, at) {
      const random = randomFrom(at * 17);
      const changed = value.delta === undefined ? value : { ...value, delta: shuffle(value.delta, random), seq: at };
      return writeSomeEscapes(shuffle(changed, random), random);
    },
    gemini(value, at) {
      const random = randomFrom(at * 19);
      return writeSomeEscapes(
        shuffle({ ...value, createTime: new Date(1763229600000 + at).toISOString() }, random),
        random,
      );
    },
    line(value, at) {
      const random = randomFrom(at * 5);
      const { event } = value;
      const changed = event?.delta === undefined ? {} : { event: { ...event, delta: shuffle(event.delta, random) } };
      const timestamp = new Date(1763229600000 + at).toISOString();
      return writeSomeEscapes(shuffle({ ...value, ...changed, timestamp }, random), random);
    },
    uuid: (index) => KINDS.real.uuid(index),
  },
};
const drawLogprobs = ({ delta }, random) =>
  delta.content
    ? { content: [{ token: delta.content, logprob: -random() * 3, bytes: null, top_logprobs: [] }], refusal: null }
    : null;
