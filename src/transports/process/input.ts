import type { Writable } from "node:stream";

/** The stdin of a process. */
export interface Input {
  /** Resolves when the pipe took the bytes; rejects when the process no longer reads, whatever it fails to say. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Closes it after what was written. Idempotent. */
  readonly end: () => void;
}

/** Looks after a process's stdin: no error of it goes unheard, no write waits for ever. */
export function createInput(stdin: Writable): Input {
  let ended = false;
  // A process that exits without reading breaks the pipe at any moment; without a listener that would end ours too.
  stdin.on("error", () => undefined);
  return {
    write(bytes) {
      if (ended) return Promise.reject(new Error("The input of the process is closed already. Nothing was written."));
      return new Promise((resolve, reject) => {
        const settle = (error?: Error | null): void => {
          stdin.off("close", refuse);
          if (error) reject(notRead(error));
          else resolve();
        };
        // Node promises to call back when a stream is destroyed under a write; `close` is here because peers hung on that.
        const refuse = (): void => settle(new Error("the pipe was closed"));
        stdin.on("close", refuse);
        stdin.write(bytes, settle);
      });
    },
    end() {
      if (ended) return;
      ended = true;
      stdin.end();
    },
  };
}

function notRead(cause: Error): Error {
  const code = (cause as NodeJS.ErrnoException).code ?? cause.message;
  return new Error(`The process no longer reads its input (${code}). Look at its exit and its stderr for the reason.`, {
    cause,
  });
}
