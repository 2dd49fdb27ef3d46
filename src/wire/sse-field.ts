const COLON = 0x3a;
const SPACE = 0x20;

/** Whether a line is the field of that name: the name alone, or followed by a colon. */
export function isField(bytes: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  const nameEnd = start + name.length;
  if (nameEnd > end || bytes[start] !== name[0]) return false;
  for (let index = 1; index < name.length; index += 1) {
    if (bytes[start + index] !== name[index]) return false;
  }
  return nameEnd === end || bytes[nameEnd] === COLON;
}

/** Where the value of a field starts: behind the colon and one space. */
export function startOfValue(bytes: Uint8Array, start: number, end: number, name: Uint8Array): number {
  const colon = start + name.length;
  if (colon === end) return end;
  return colon + 1 < end && bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
}
