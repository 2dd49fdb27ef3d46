import { StartError } from "#domain";

/**
 * A command line as words, without a shell: blanks part them, quotes keep them together, a backslash takes the next
 * character as it is (inside double quotes only before `"` and `\`). Nothing is expanded, and what a shell would act on
 * (`|`, `>`, `&&`, `;`) is refused when it stands as a word of its own, because it would not do what it says.
 *
 * @throws StartError `invalid-option` when a quote is not closed, or nothing is left.
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
