/** What is wrong with the wording of an output: nothing, or one line per fault. Options are data, and may look like anything. */
export function wordingFaults(text: string): string[] {
  const faults: string[] = [];
  for (const line of text.split("\n")) {
    const bare = line.replace(/"[^"]*"|`[^`]*`|'[^']*'|https?:\/\/\S+|\S*\/\S*/g, "x");
    const say = (what: string): void => void faults.push(`${what}: ${line}`);
    if (/(?<!\.)\.\.(?!\.)/.test(bare)) say("two full stops");
    if (/[!?…:;,]\.(?:\s|$)/.test(bare)) say("a full stop behind another mark");
    if (/\. \./.test(bare)) say("an empty sentence");
    if (/\b([a-z]\w+): \1\b/i.test(bare)) say("a word said twice");
    if (/(?<![-\w])(?!that|had)([a-z]{2,}) \1\b/i.test(bare)) say("a doubled word");
    if (/undefined|\[object |NaN/.test(bare)) say("a value that is none");
    // A sentence begins with a capital, unless it begins with a name, a flag, a number or a quotation.
    if (
      /[a-z]{2}\. [a-z]+ [a-z]/.test(bare) &&
      !/\. (?:millrace|node|npm|anthropic|openai|google|offline|claude)\b/.test(bare)
    )
      say("a sentence that begins small");
  }
  return faults;
}

/** Lines of the form `Label: …` whose labels do not all begin alike. */
export function mixedLabels(text: string): string[] {
  const labels = text.split("\n").flatMap((line) => /^([A-Za-z][\w ]{1,30}): /.exec(line)?.[1] ?? []);
  const small = labels.filter((label) => /^[a-z]/.test(label));
  return small.length === 0 || small.length === labels.length ? [] : labels;
}
