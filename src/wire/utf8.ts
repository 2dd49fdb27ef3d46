// Allowed only here: `node:buffer` is pure, and decodes streams two to four times as fast as a TextDecoder.
// oxlint-disable-next-line no-restricted-imports
import { isAscii, isUtf8, transcode } from "node:buffer";
import { viewBytes } from "./bytes.ts";
import { SEEN_BYTES } from "./limits.ts";

/** A decoder that throws on bytes that are not UTF-8 and replaces nothing. A byte order mark is treated as text. */
export function createStrictDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
}

// A Node that was built without ICU does not have it.
const canTranscode = typeof transcode === "function";

/** Decodes a range of bytes as text; `undefined` if it is not UTF-8. Replaces nothing and leaves nothing out. */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  if (isAscii(view)) return view.toString("latin1");
  if (!isUtf8(view)) return undefined;
  return canTranscode ? transcode(view, "utf8", "ucs2").toString("ucs2") : view.toString("utf8");
}

/** The beginning of bytes that may not be UTF-8, for display. A split character at the end is left out. */
export function readLoosely(bytes: Uint8Array, maxBytes = SEEN_BYTES): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return decoder.decode(viewBytes(bytes, 0, Math.min(bytes.length, maxBytes)), { stream: true });
}

/** How many bytes at the end are the beginning of an incomplete character: 0 to 3. */
export function unfinishedSuffix(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back += 1) {
    const size = characterSize(bytes[length - back]);
    if (size === 0) continue;
    return size > back && wellFormedEnd(bytes, length - back, back) === length ? back : 0;
  }
  return 0;
}

/** The end of the run of whole characters from `start` on, after at most `maxCharacters` of them. */
export function validRun(bytes: Uint8Array, start: number, maxCharacters = Number.POSITIVE_INFINITY): number {
  let at = start;
  for (let count = 0; count < maxCharacters && at < bytes.length; count += 1) {
    const size = characterSize(bytes[at]);
    if (size === 0 || at + size > bytes.length || wellFormedEnd(bytes, at, size) !== at + size) return at;
    at += size;
  }
  return at;
}

/** The number of bytes of the character that begins with this byte; 0 if none does. */
function characterSize(byte = 0x80): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2) return 0;
  if (byte < 0xe0) return 2;
  if (byte < 0xf0) return 3;
  return byte < 0xf5 ? 4 : 0;
}

/** Where the character at `start` stops being well-formed, within `size` bytes (Unicode, table 3-7). */
function wellFormedEnd(bytes: Uint8Array, start: number, size: number): number {
  const first = bytes[start] ?? 0;
  for (let at = start + 1; at < start + size; at += 1) {
    const byte = bytes[at] ?? 0;
    const isSecond = at === start + 1;
    // The second byte alone reveals overlong forms, surrogates and values above U+10FFFF.
    const low = isSecond && first === 0xe0 ? 0xa0 : isSecond && first === 0xf0 ? 0x90 : 0x80;
    const high = isSecond && first === 0xed ? 0x9f : isSecond && first === 0xf4 ? 0x8f : 0xbf;
    if (byte < low || byte > high) return at;
  }
  return start + size;
}
