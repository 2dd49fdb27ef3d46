import { usageError } from "../usage-error.ts";

/** How thinking is shown. */
export const THINKING_MODES = ["show", "collapse", "hide"] as const;

/**
 * A flag with an optional value takes the next word, even if it is the prompt. This function decides by the form of the
 * word, so that `--thinking "What is 2 + 2?"` keeps its prompt. `--flag=value` is always a value.
 *
 * @throws StartError for a word that could be the file of `--append-json` as well as the prompt.
 */
export function normaliseFlags(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, index) => {
    if (end !== -1 && index > end) return word;
    const next = argv[index + 1];
    if (word === "--thinking" && !(THINKING_MODES as readonly string[]).includes(next ?? "")) return "--thinking=show";
    if (word === "--append-json" && !isLogFile(next)) return "--append-json=";
    return word;
  });
}

function isLogFile(word: string | undefined): boolean {
  if (word === undefined || word.startsWith("-") || /\s/.test(word)) return false;
  if (/.\.(?:jsonl|ndjson|json|log|txt)$/i.test(word)) return true;
  if (!/[/\\]|\.\w+$/.test(word)) return false;
  throw usageError(
    `--append-json: ${JSON.stringify(word)} may be the file or the prompt. Write --append-json=${word} if it is the file, or put the prompt before --append-json.`,
  );
}
