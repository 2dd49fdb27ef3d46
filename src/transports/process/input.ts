import type { Writable } from "node:stream";

/** The stdin of a process. */
export interface Input {
  /** Resolves when the pipe has accepted the bytes; rejects when the process no longer reads. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Closes it after everything that was written. Idempotent. */
  readonly end: () => void;
}

/** Manages a process's stdin: every error is handled, and no write stays pending for ever. */
export function createInput(stdin: Writable): Input {
  let ended = false;
  // A process that exits without reading can break the pipe at any time; without a listener this would end our process
  // too.
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
        // Node should call back when a stream is destroyed during a write; `close` is handled as well because other
        // libraries hung here.
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
