/** What a question is about, as far as its words tell. */
export interface Subject {
  /** What stands after "in", "for", "of" …: the places, names or things, one or more. */
  readonly names: readonly string[];
  /** What stands in quotation marks or backticks. */
  readonly quoted: readonly string[];
  readonly numbers: readonly number[];
}

const PREPOSITIONS: ReadonlySet<string> = new Set("in for of about to at on from named called".split(" "));
const ENDINGS: ReadonlySet<string> = new Set(
  "today tomorrow tonight now please and or but is are was were right this next using with by then".split(" "),
);
const ARTICLES: ReadonlySet<string> = new Set("the a an my our your".split(" "));
const LONGEST = 200;

/** Reads what a question is about. Linear in the question. */
export function readSubject(question: string): Subject {
  return {
    names: readNames(question),
    quoted: [...question.matchAll(/"([^"\n]+)"|“([^”\n]+)”|`([^`\n]+)`/g)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? "",
    ),
    numbers: (question.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number),
  };
}

interface Word {
  readonly text: string;
  /** Punctuation right after it. */
  readonly mark: string;
}

function readNames(question: string): string[] {
  const words = [...question.matchAll(/([^\s?!.,;:]+(?:[.:][^\s?!.,;:]+)*)([?!.,;:]*)/g)].map(
    (match): Word => ({ text: match[1] ?? "", mark: match[2] ?? "" }),
  );
  for (const [index, word] of words.entries()) {
    if (!PREPOSITIONS.has(word.text.toLowerCase()) || word.mark !== "") continue;
    let start = index + 1;
    while (ARTICLES.has(words[start]?.text.toLowerCase() ?? "")) start += 1;
    const names = readList(words, start);
    if (names.length > 0) return names;
  }
  return [];
}

/** "Paris", "New York and Rome", "red shoes". */
function readList(words: readonly Word[], start: number): string[] {
  const names: string[] = [];
  const isNamed = isCapital(words[start]?.text);
  let current: string[] = [];
  for (const word of words.slice(start)) {
    const isJoint = word.text.toLowerCase() === "and" && isNamed;
    const isEnd = !isJoint && (isNamed ? !isCapital(word.text) : ENDINGS.has(word.text.toLowerCase()));
    if (isEnd) break;
    if (!isJoint) current.push(word.text);
    if ((isJoint || word.mark !== "") && current.length > 0) {
      names.push(current.join(" ").slice(0, LONGEST));
      current = [];
    }
    if (word.mark !== "" && !(isNamed && word.mark === ",")) return names;
  }
  return current.length === 0 ? names : [...names, current.join(" ").slice(0, LONGEST)];
}

function isCapital(word: string | undefined): boolean {
  return word !== undefined && /^\p{Lu}/u.test(word);
}
