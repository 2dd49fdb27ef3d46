import {
  decodeBase64,
  encodeBase64,
  present,
  START_ERROR_CODES,
  StartError,
  type StartErrorCode,
  ToolFailure,
} from "#domain";
import type { TapeBytes, TapeDigest, TapeFailure } from "./tape.ts";

/**
 * The written version. Version 1, written by millrace 0.1, had a checksum in every line instead of a digest at the end.
 */
export const TAPE_VERSION = 2;

/** A digest over all preceding bytes. It protects against accidents, not against forgery. */
export interface DigestWriter {
  add(bytes: string | Uint8Array): void;
  /** The end of the last line. */
  end(): string;
}

export function createDigester(): DigestWriter {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const hash = createHash("sha256");
  return {
    add: (bytes) => void hash.update(bytes),
    end: () => `,"digest":"${hash.digest("hex")}"}`,
  };
}

/** The length of the text that `end` returns. */
export const DIGEST_BYTES = 77;

/** The digest of a text that is too long to store. */
export function digestOf(text: string): TapeDigest {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return { length: text.length, sum: createHash("sha256").update(text).digest("hex") };
}

/**
 * Whether a text has this digest. Checksums of version 1 have 16 digits and cannot be compared; only the lengths are.
 */
export function isDigestOf({ length, sum }: TapeDigest, text: string): boolean {
  return length === text.length && (sum.length === 16 || sum === digestOf(text).sum);
}

const strict = { fatal: true, ignoreBOM: true };

/** Bytes in the form in which a tape stores them. */
export function keepBytes(bytes: Uint8Array): TapeBytes {
  try {
    return { text: new TextDecoder("utf-8", strict).decode(bytes) };
  } catch {
    return { base64: encodeBase64(bytes) };
  }
}

/** The stored bytes. */
export function bytesOf(kept: TapeBytes): Uint8Array {
  if ("text" in kept) return new TextEncoder().encode(kept.text);
  return decodeBase64(kept.base64) ?? new Uint8Array();
}

/** An error in the form in which a tape stores it. */
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
    ...present({ code, host }),
    ...(typeof error["answered"] === "boolean" && { answered: error["answered"] }),
  };
}

/** An error with the same properties as the recorded one. */
export function rebuildFailure(failure: TapeFailure): Error {
  const { name, message, code, host, answered } = failure;
  if (name === "ToolFailure") return new ToolFailure(message);
  if (name === "StartError") {
    const known = START_ERROR_CODES.find((one): one is StartErrorCode => one === code);
    if (known !== undefined) return new StartError(known, message);
  }
  const error = new Error(message);
  error.name = name;
  const fields: Record<string, unknown> = {};
  if (code !== undefined) fields["code"] = code;
  if (host !== undefined) fields["host"] = host;
  if (answered !== undefined) fields["answered"] = answered;
  Object.assign(error, fields);
  return error;
}
