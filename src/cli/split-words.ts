import { StartError } from "#domain";

/**
 * Splits a command line into words, without a shell: blanks separate them, quotes keep them together, a backslash
 * escapes the next character (inside double quotes only `"` and `\`). Nothing is expanded. Shell operators (`|`, `>`,
 * `&&`, `;`) are refused as separate words, because they would not work as expected.
 *
 * @throws StartError `invalid-option` if a quote is not closed, or there are no words.
 */
export function splitWords(text: string, flag: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    const next = text[at + 1];
    if (character === "\\" && quote !== "'" && next !== undefined && (quote === undefined || /["\\]/.test(next))) {
      word = (word ?? "") + next;
      at += 1;
    } else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= "";
    } else if (character === quote) quote = undefined;
    else if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      if (quote === undefined && word === undefined) refuseShell(text.slice(at), flag);
      word = (word ?? "") + character;
    }
  }
  if (quote !== undefined) {
    throw new StartError("invalid-option", `${flag}: the quote ${quote} is not closed. Close it, or write \\${quote}.`);
  }
  if (word !== undefined) words.push(word);
  if (words.length === 0)
    throw new StartError("invalid-option", `${flag} is empty. Give a command, such as 'agent --json'.`);
  return words;
}

const SHELL_WORD = /^(?:\|\|?|&&?|;|>>?|<|2>&1|\d?>>?)(?=\s|$)/;

function refuseShell(rest: string, flag: string): void {
  const found = SHELL_WORD.exec(rest)?.[0];
  if (found === undefined) return;
  throw new StartError(
    "invalid-option",
    `${flag}: "${found}" is for a shell, and no shell is used. Write sh -c '…' around the command, or quote the word.`,
  );
}
