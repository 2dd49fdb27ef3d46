import { decodeBase64, encodeBase64 } from "#wire";
import type { TapeBytes, TapeFailure } from "./tape.ts";

/** So many hexadecimal digits seal a line. */
const SEAL_DIGITS = 16;
const SEALED = /^\{"seal":"([0-9a-f]{16})",/;
/** The length of `{"seal":"…",`. */
export const SEAL_BYTES = SEAL_DIGITS + 11;

/** The seal before the first line. */
export const FIRST_SEAL = "0".repeat(SEAL_DIGITS);

/**
 * Writes a line that carries a seal over itself and the line before, so that a changed, missing, doubled or moved line
 * is noticed. It guards against accidents, not against forgers.
 */
export function writeLine(value: object, before: string): { readonly line: string; readonly seal: string } {
  const rest = JSON.stringify(value).slice(1);
  const seal = sumOf(before + rest);
  return { line: `{"seal":"${seal}",${rest}\n`, seal };
}

/** The seal a line carries, and the one it should carry. */
export function readSeal(
  text: string,
  before: string,
): { readonly found: string | undefined; readonly expected: string } {
  const found = SEALED.exec(text)?.[1];
  return { found, expected: sumOf(before + text.slice(SEAL_BYTES)) };
}

/** Two lanes of FNV-1a over the UTF-16 units of a text: 64 bits that change when anything does. */
export function sumOf(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ (unit + index), 0x85ebca6b);
    high ^= high >>> 13;
  }
  return hex(low) + hex(high);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}

const strict = { fatal: true, ignoreBOM: true };

/** Bytes as a tape keeps them. */
export function keepBytes(bytes: Uint8Array): TapeBytes {
  try {
    return { text: new TextDecoder("utf-8", strict).decode(bytes) };
  } catch {
    return { base64: encodeBase64(bytes) };
  }
}

/** The bytes that were kept. */
export function bytesOf(kept: TapeBytes): Uint8Array {
  if ("text" in kept) return new TextEncoder().encode(kept.text);
  return decodeBase64(kept.base64) ?? new Uint8Array();
}

/** An error as a tape keeps it. */
export function keepFailure(thrown: unknown, redact: (text: string) => string): TapeFailure {
  const error = (typeof thrown === "object" && thrown !== null ? thrown : { message: String(thrown) }) as {
    readonly [field: string]: unknown;
  };
  const text = (field: string): string | undefined => {
    const value = error[field];
    return typeof value === "string" ? redact(value) : undefined;
  };
  const code = text("code");
  const host = text("host");
  return {
    name: text("name") ?? "Error",
    message: text("message") ?? "",
    ...(code !== undefined && { code }),
    ...(host !== undefined && { host }),
    ...(typeof error["answered"] === "boolean" && { answered: error["answered"] }),
  };
}
