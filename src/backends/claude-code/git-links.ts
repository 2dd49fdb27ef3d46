/** The mode of an entry for another repository. */
const LINK_MODE = 0o160_000;
/** Offsets before the name of an entry: times, numbers, mode, owner, size, then the object's id and the flags. */
const MODE_AT = 24;
const ID_AT = 40;
/** The maximum number of index entries that are read. */
const MOST_ENTRIES = 1_000_000;

/**
 * The paths of the repositories inside a working tree, from the file `index` of its git folder: git enters each of them
 * for its status. `idBytes`: the length of object ids. An unreadable index gives none.
 */
export function readGitLinks(index: Uint8Array, idBytes = 20): readonly string[] {
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  if (index.length < 12 || String.fromCharCode(...index.subarray(0, 4)) !== "DIRC") return [];
  const version = view.getUint32(4);
  const count = Math.min(view.getUint32(8), MOST_ENTRIES);
  const links: string[] = [];
  let name: Uint8Array = new Uint8Array();
  let at = 12;
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = at + ID_AT + idBytes;
    if (flagsAt + 3 > index.length) break;
    const isLink = view.getUint32(at + MODE_AT) === LINK_MODE;
    let start = flagsAt + ((view.getUint16(flagsAt) & 0x40_00) === 0 ? 2 : 4);
    let kept = 0;
    if (version === 4) [kept, start] = readKept(index, start, name.length);
    const end = index.indexOf(0, start);
    if (end === -1) break;
    const rest = index.subarray(start, end);
    const whole = new Uint8Array(kept + rest.length);
    whole.set(name.subarray(0, kept));
    whole.set(rest, kept);
    name = whole;
    if (isLink) links.push(new TextDecoder().decode(name));
    // Up to version 3 entries are padded with zeros to a multiple of eight.
    at = version === 4 ? end + 1 : at + (Math.floor((end - at) / 8) + 1) * 8;
  }
  return links;
}

/** In version 4 a name repeats the beginning of the previous one; the entry gives the number of bytes to remove. */
function readKept(index: Uint8Array, from: number, length: number): [kept: number, start: number] {
  let at = from;
  let byte = index[at] ?? 0;
  let removed = byte & 0x7f;
  while ((byte & 0x80) !== 0 && at - from < 4) {
    at += 1;
    byte = index[at] ?? 0;
    removed = (removed + 1) * 128 + (byte & 0x7f);
  }
  return [Math.max(0, length - removed), at + 1];
}
