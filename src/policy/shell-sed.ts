/** Longer scripts are not parsed. */
const LONGEST_SCRIPT = 1_000;

/** One address: a line number, the last line, or a pattern between slashes or, after a backslash, any delimiter. */
const ADDRESS = /^(?:\d+(?:~\d+)?|\$|\/(?:\\.|[^\\/\n])*\/[IM]*|\\(.)(?:\\.|(?!\1)[^\\\n])*\1[IM]*|[+~]\d+)/s;
/** `s` or `y` with its three delimiters; flags may follow. */
const SUBSTITUTION = /^[sy](.)(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1/s;

/**
 * Whether the arguments of sed contain a script that runs a command: GNU sed runs the text after `e` and the result of
 * `s///e`. A script that cannot be parsed may do so.
 */
export function isRunningSed(args: readonly string[]): boolean {
  return scriptsOf(args).some((script) => !isReadable(script, skipCommand));
}

/** Whether they contain a script that writes a file (`w`, `s///w`) or runs a command. */
export function isWritingSed(args: readonly string[]): boolean {
  return scriptsOf(args).some((script) => !isReadable(script, skipHarmless));
}

function scriptsOf(args: readonly string[]): readonly string[] {
  const named: string[] = [];
  let first: string | undefined;
  let hasFile = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string;
    const long = /^--e[a-z]*=(.*)$/s.exec(word)?.[1];
    const attached = /^-[nErsuz]*e(.+)$/s.exec(word)?.[1];
    if (long !== undefined) named.push(long);
    else if (/^(?:-[nErsuz]*e|--e[a-z]*)$/.test(word)) {
      named.push(args[at + 1] ?? "");
      at += 1;
    } else if (attached !== undefined) named.push(attached);
    else if (/^(?:-[nErsuz]*f|--f[a-z]*$)/.test(word)) {
      hasFile = true;
      if (/^(?:-[nErsuz]*f|--f[a-z]*)$/.test(word)) at += 1;
    } else if (/^(?:-l|--line-length)$/.test(word)) at += 1;
    else if (!/^-./.test(word)) first ??= word;
  }
  return named.length > 0 || hasFile || first === undefined ? named : [first];
}

/** Returns the script after one command; `undefined`: the command needs approval or cannot be parsed. */
type SkipCommand = (script: string) => string | undefined;

function isReadable(script: string, skip: SkipCommand): boolean {
  if (script.length > LONGEST_SCRIPT) return false;
  let rest = script;
  for (;;) {
    rest = rest.replace(/^[\s;{}]+/, "");
    if (rest === "") return true;
    rest = skipAddresses(rest);
    const next = skip(rest);
    if (next === undefined) return false;
    rest = next;
  }
}

function skipAddresses(script: string): string {
  let rest = script;
  for (let count = 0; count < 2; count += 1) {
    const address = ADDRESS.exec(rest)?.[0];
    if (address === undefined) break;
    rest = rest.slice(address.length).trimStart();
    if (!rest.startsWith(",")) break;
    rest = rest.slice(1).trimStart();
  }
  return rest.replace(/^[!\s]+/, "");
}

/** Skips a command that neither runs nor writes anything. */
function skipHarmless(script: string): string | undefined {
  if (/^[wW]/.test(script)) return undefined;
  const found = script.startsWith("s") ? SUBSTITUTION.exec(script)?.[0] : undefined;
  const flags = found === undefined ? "" : (/^[^;}\n]*/.exec(script.slice(found.length))?.[0] ?? "");
  return /[wW]/.test(flags) ? undefined : skipCommand(script);
}

/** Returns the script after one command; `undefined`: it runs something or cannot be parsed. */
function skipCommand(script: string): string | undefined {
  const name = script[0] ?? "";
  if (name === "s" || name === "y") {
    const found = SUBSTITUTION.exec(script)?.[0];
    if (found === undefined) return undefined;
    const flags = /^[^;}\n]*/.exec(script.slice(found.length))?.[0] ?? "";
    if (/e/.test(/^[^wW]*/.exec(flags)?.[0] ?? "")) return undefined;
    // The file name extends to the end of the line.
    return /[wW]/.test(flags) ? skipLine(script) : script.slice(found.length + flags.length);
  }
  if (name === "{" || name === "}" || name === "") return script.slice(1);
  if ("aic".includes(name)) return skipText(script);
  if ("rRwW#".includes(name)) return skipLine(script);
  if (":btT".includes(name)) return script.replace(/^[^;\n}]*/, "");
  if ("=dDgGhHlnNpPqQxzFv".includes(name)) return script.slice(1).replace(/^[ \t]*\d*/, "");
  return undefined;
}

function skipLine(script: string): string {
  const end = script.indexOf("\n");
  return end === -1 ? "" : script.slice(end + 1);
}

/** The added text continues on the next line after a backslash. */
function skipText(script: string): string {
  return script.slice(/^(?:\\[\s\S]|[^\\\n])*/.exec(script)?.[0].length ?? 0);
}
