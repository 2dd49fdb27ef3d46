import { createDeferred, type Deferred } from "#streams";

/** The stdin of a scripted process, as lines. */
export interface InputLines {
  write(bytes: Uint8Array): Promise<void>;
  /** Closes it from our side. */
  end(): void;
  /** Closes it from the process's side: later writes are refused. */
  close(): void;
  /** The next whole line, without its end; at the end of the input an unfinished last line, then `""`. */
  line(): Promise<string>;
  /** Resolves when our side has closed it. */
  ended(): Promise<void>;
  text(): string;
  isEnded(): boolean;
}

export function createInputLines(): InputLines {
  const decoder = new TextDecoder();
  let text = "";
  let taken = 0;
  let isEnded = false;
  let isClosed = false;
  const waiting: Deferred<void>[] = [];

  const wake = (): void => {
    for (const waiter of waiting.splice(0)) waiter.resolve();
  };
  const change = (): Promise<void> => {
    const waiter = createDeferred<void>();
    waiting.push(waiter);
    return waiter.promise;
  };

  return {
    write(bytes) {
      if (isClosed || isEnded) return Promise.reject(new Error("The process no longer reads its input (EPIPE)."));
      text += decoder.decode(bytes, { stream: true });
      wake();
      return Promise.resolve();
    },
    end() {
      isEnded = true;
      wake();
    },
    close() {
      isClosed = true;
    },
    async line() {
      for (;;) {
        const end = text.indexOf("\n", taken);
        if (end !== -1 || isEnded) {
          const line = text.slice(taken, end === -1 ? text.length : end);
          taken = end === -1 ? text.length : end + 1;
          return line;
        }
        await change();
      }
    },
    async ended() {
      while (!isEnded) await change();
    },
    text: () => text,
    isEnded: () => isEnded,
  };
}
