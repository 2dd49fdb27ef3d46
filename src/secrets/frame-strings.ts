/** A string in a JSON frame: the position of its characters, and the text of the stream that it belongs to. */
export interface FrameString {
  readonly start: number;
  readonly end: number;
  readonly path: string;
  /** The path, with the fields that distinguish texts which are written at the same time. */
  readonly key: string;
}

/** Fields that say which of several texts a frame continues. */
const DISTINGUISHES = /index$|^parent_tool_use_id$|^item_id$/i;
/** Deeper values are not searched. */
const DEEPEST = 64;

/**
 * The strings of one line of JSON, with or without `data:` before it; `undefined` when it is not JSON.
 *
 * Not a parser: it must return character positions, and may be wrong about text that is not JSON. Linear.
 */
export function readFrameStrings(line: string): readonly FrameString[] | undefined {
  const start = /^(?:data:)?[ \t]*(?=[[{])/.exec(line)?.[0].length;
  if (start === undefined) return undefined;
  const found: Omit<FrameString, "key">[] = [];
  const marks: string[] = [];
  // One name per open object, `undefined` where a name is expected; lists have `[]`.
  const path: (string | undefined)[] = [];
  for (let at = start; at < line.length; at += 1) {
    const letter = line[at];
    if (letter === "{" || letter === "[") {
      if (path.length >= DEEPEST) return undefined;
      path.push(letter === "{" ? undefined : "[]");
    } else if (letter === "}" || letter === "]") path.pop();
    else if (letter === ",") {
      if (path.at(-1) !== "[]") path[path.length - 1] = undefined;
    } else if (letter === '"') {
      const end = endOfString(line, at + 1);
      const text = { start: at + 1, end };
      if (path.length > 0 && path.at(-1) === undefined) path[path.length - 1] = line.slice(text.start, end);
      else {
        found.push({ ...text, path: path.join(".") });
        if (DISTINGUISHES.test(path.at(-1) ?? "")) marks.push(line.slice(text.start, end));
      }
      at = end;
    } else if (isDigit(letter) && DISTINGUISHES.test(path.at(-1) ?? "")) {
      const end = endOfNumber(line, at);
      marks.push(line.slice(at, end));
      at = end - 1;
    }
  }
  const apart = marks.join(" ");
  return found.map((text) => ({ ...text, key: `${text.path} ${apart}` }));
}

function endOfString(line: string, from: number): number {
  let at = from;
  while (at < line.length && line[at] !== '"') at += line[at] === "\\" ? 2 : 1;
  return Math.min(at, line.length);
}

function endOfNumber(line: string, from: number): number {
  let at = from;
  while (at < line.length && isDigit(line[at])) at += 1;
  return at;
}

function isDigit(letter: string | undefined): boolean {
  return letter !== undefined && letter >= "0" && letter <= "9";
}
