const LONGEST_WORD = 40;

/** Splits a text into the pieces in which a model streams it: one word at a time, with the blank before it. */
export function splitWords(text: string): string[] {
  const pieces: string[] = [];
  for (const [word] of text.matchAll(/\s*\S+|\s+/g)) pieces.push(...splitEvery(word, LONGEST_WORD));
  return pieces;
}

/** Splits a text into pieces of about `size` characters, never inside a surrogate pair. */
export function splitEvery(text: string, size: number): string[] {
  if (text.length <= size) return text === "" ? [] : [text];
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + size, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end += 1;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
