const NAME_PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;

/** Words of a tool's name that say nothing about what it is for. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  "get set fetch find list do run make create tool tools mcp api call the of for to in on by with and or is my your".split(
    " ",
  ),
);

/** The words of a tool's name, lower case: `get_weather`, `getWeather` and `mcp__sky__get-weather` alike. */
export function readNameWords(name: string): string[] {
  const own = name.split("__").at(-1) ?? name;
  return (own.match(NAME_PART) ?? []).map((word) => word.toLowerCase());
}

/** The words of a name that say what it is for, without plural endings. */
export function readTopicWords(name: string): string[] {
  return readNameWords(name)
    .filter((word) => word.length > 2 && !EMPTY_WORDS.has(word))
    .map(singular);
}

/** The words of a sentence, lower case, without plural endings. */
export function readWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(singular);
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
