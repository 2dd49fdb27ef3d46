/** The end of a process's stderr. */
export interface StderrTail {
  /** Reads the stream to its end. Never rejects. */
  drain(stream: AsyncIterable<Uint8Array>): Promise<void>;
  /** The last bytes as text, starting at a whole character. */
  text(): string;
}

export interface StderrTailOptions {
  /** Default 262 144. */
  readonly maxBytes?: number;
  /** Called with each line, without its line end; a line over 65 536 bytes comes in pieces. Exceptions are ignored. */
  readonly onLine?: ((line: string) => void) | undefined;
}

const MAX_BYTES = 262_144;
const MAX_LINE_BYTES = 65_536;
const LF = 0x0a;

/** Keeps a bounded tail of stderr. It must always be drained: a full pipe blocks the process that writes to it. */
export function createStderrTail({ maxBytes = MAX_BYTES, onLine }: StderrTailOptions = {}): StderrTail {
  const ring = new Uint8Array(maxBytes);
  let written = 0;

  const keep = (bytes: Uint8Array): void => {
    const last = bytes.length > maxBytes ? bytes.subarray(bytes.length - maxBytes) : bytes;
    const at = (written + bytes.length - last.length) % maxBytes;
    const first = Math.min(last.length, maxBytes - at);
    ring.set(last.subarray(0, first), at);
    ring.set(last.subarray(first), 0);
    written += bytes.length;
  };

  return {
    async drain(stream) {
      const lines = onLine === undefined ? undefined : createLines(onLine);
      try {
        for await (const bytes of stream) {
          keep(bytes);
          lines?.push(bytes);
        }
      } catch {
        // A broken pipe counts as the end.
      }
      lines?.end();
    },
    text() {
      if (written <= maxBytes) return new TextDecoder().decode(ring.subarray(0, written));
      const at = written % maxBytes;
      const bytes = new Uint8Array(maxBytes);
      bytes.set(ring.subarray(at));
      bytes.set(ring.subarray(0, at), maxBytes - at);
      let start = 0;
      // A character that was cut in two would decode to a wrong one.
      while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
      return new TextDecoder().decode(bytes.subarray(start));
    },
  };
}

function createLines(onLine: (line: string) => void): { push(bytes: Uint8Array): void; end(): void } {
  let decoder = new TextDecoder();
  let line = "";
  let length = 0;
  const give = (): void => {
    const whole = line + decoder.decode();
    decoder = new TextDecoder();
    line = "";
    length = 0;
    try {
      onLine(whole.endsWith("\r") ? whole.slice(0, -1) : whole);
    } catch {
      // A failing listener must not stop the draining.
    }
  };
  return {
    push(bytes) {
      let start = 0;
      while (start < bytes.length) {
        const room = start + MAX_LINE_BYTES - length;
        const found = bytes.indexOf(LF, start);
        const end = Math.min(found === -1 ? bytes.length : found, room);
        line += decoder.decode(bytes.subarray(start, end), { stream: true });
        length += end - start;
        start = end;
        if (end === found) {
          give();
          start += 1;
        } else if (length === MAX_LINE_BYTES) give();
      }
    },
    end() {
      if (length > 0) give();
    },
  };
}
