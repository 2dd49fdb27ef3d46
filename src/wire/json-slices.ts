/** Texts that are longer are written piece by piece. */
const SLICE_CHARACTERS = 65_536;

/** What a value weighs beside its texts. */
const VALUE_CHARACTERS = 8;

/**
 * A JSON value as the text that `JSON.stringify` gives, in pieces: a text of many megabytes is written bit by bit, so
 * that whoever asks for the pieces can let others have their turn in between.
 *
 * @example
 * for (const piece of encodeInSlices(event)) { response.write(piece); await nextTurn() }
 */
export function* encodeInSlices(value: unknown): Generator<string, undefined> {
  const texts: string[] = [];
  const skeleton = writeSkeleton(value, texts);
  for (const [index, part] of skeleton.entries()) {
    yield part;
    const text = texts[index];
    if (text !== undefined) yield* writeText(text);
  }
  return undefined;
}

/** The JSON around the long texts, which are taken out of it in order. */
function writeSkeleton(value: unknown, texts: string[]): readonly string[] {
  for (let attempt = 0; ; attempt += 1) {
    texts.length = 0;
    const mark = `@@slice-${attempt}@@`;
    const json = JSON.stringify(value, (_, member: unknown) => {
      if (typeof member !== "string" || member.length <= SLICE_CHARACTERS) return member;
      texts.push(member);
      return mark;
    });
    const parts = json.split(`"${mark}"`);
    // Somebody else may have written the mark: then another one is taken.
    if (parts.length === texts.length + 1) return parts;
  }
}

function* writeText(text: string): Generator<string, undefined> {
  yield '"';
  for (let from = 0; from < text.length; ) {
    let end = Math.min(text.length, from + SLICE_CHARACTERS);
    // The two halves of a character stay together: apart each would be written as an escape.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield JSON.stringify(text.slice(from, end)).slice(1, -1);
    from = end;
  }
  yield '"';
  return undefined;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** About how many characters a JSON value has, without writing it. */
export function measureJson(value: unknown): number {
  if (typeof value === "string") return VALUE_CHARACTERS + value.length;
  if (typeof value !== "object" || value === null) return VALUE_CHARACTERS;
  if (value instanceof Uint8Array) return VALUE_CHARACTERS + value.length;
  let characters = VALUE_CHARACTERS;
  if (Array.isArray(value)) for (const member of value) characters += measureJson(member);
  else
    for (const key of Object.keys(value))
      characters += key.length + measureJson((value as Record<string, unknown>)[key]);
  return characters;
}
