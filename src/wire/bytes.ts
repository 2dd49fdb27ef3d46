export const NOTHING: Uint8Array = new Uint8Array(0);

/** A plain view, whatever the bytes came as: a subclass may be slow to make, or share its memory on `slice`. */
export function viewBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
}

/**
 * Makes views of the same bytes again and again. Asking an array for its buffer costs as much as making the view, so
 * it is asked once per array.
 */
export class Viewer {
  private _bytes: Uint8Array = NOTHING;
  private _buffer: ArrayBufferLike = NOTHING.buffer;
  private _offset = 0;

  view(bytes: Uint8Array, start: number, end: number): Uint8Array {
    if (bytes !== this._bytes) {
      this._bytes = bytes;
      this._buffer = bytes.buffer;
      this._offset = bytes.byteOffset;
    }
    return new Uint8Array(this._buffer, this._offset + start, end - start);
  }

  /** Lets go of the bytes, which are the caller's. */
  forget(): void {
    this._bytes = NOTHING;
    this._buffer = NOTHING.buffer;
  }
}

/** The parts as one array of their own. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Whether a stretch of bytes is exactly these bytes. */
export function isSameBytes(bytes: Uint8Array, start: number, end: number, expected: Uint8Array): boolean {
  if (end - start !== expected.length) return false;
  for (let index = 0; index < expected.length; index += 1) {
    if (bytes[start + index] !== expected[index]) return false;
  }
  return true;
}
