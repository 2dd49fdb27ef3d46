/** How thinking is shown. */
export const THINKING_MODES = ["show", "collapse", "hide"] as const;

/**
 * Flags whose value may be left out take the word behind them, also when it is the prompt. Here it is decided by what
 * the word looks like, so that `--thinking "What is 2 + 2?"` means what it says. `--flag=value` is always a value.
 */
export function normaliseFlags(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, index) => {
    if (end !== -1 && index > end) return word;
    const next = argv[index + 1];
    if (word === "--thinking" && !(THINKING_MODES as readonly string[]).includes(next ?? "")) return "--thinking=show";
    if (word === "--append-json" && !looksLikeLog(next)) return "--append-json=";
    return word;
  });
}

function looksLikeLog(word: string | undefined): boolean {
  return word !== undefined && !word.startsWith("-") && /^\S+\.(?:jsonl|ndjson|json|log|txt)$/i.test(word);
}
