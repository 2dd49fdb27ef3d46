import type { Transport } from "#transports";
import { expectSame, expectThat, type Failure, rejection, runTrials, type Trial } from "./conformance.ts";

/** A transport, not yet opened, and the other end of it. */
export interface TransportPair {
  readonly near: Transport;
  /** Plays the other side: what it writes, `near` reads; what `near` writes, it reads. Not yet opened either. */
  readonly far: Transport;
}

/**
 * Tries a transport against the promises of its contract and returns the broken ones. Works with any test runner.
 * `createPair` gives a fresh pair, once per promise; the suite closes both.
 *
 * @example
 * const createPair = () => {
 *   const [near, far] = createLinkedTransports()
 *   return { near, far }
 * }
 * assert.deepEqual(await checkTransport(createPair), [])
 */
export function checkTransport(createPair: () => Promise<TransportPair> | TransportPair): Promise<readonly Failure[]> {
  return runTrials(
    TRIALS.map(
      ([behaviour, attempt]): Trial<TransportPair> => [
        behaviour,
        async (pair) => {
          try {
            await attempt(pair);
          } finally {
            await Promise.all([pair.near.close(), pair.far.close()]);
          }
        },
      ],
    ),
    createPair,
  );
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const openBoth = ({ near, far }: TransportPair): Promise<unknown> => Promise.all([near.open(), far.open()]);

/** All the text that arrives until the end. */
async function readAll(transport: Transport): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of transport.read()) text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
}

const TRIALS: readonly Trial<TransportPair>[] = [
  [
    "bytes arrive in order, each once, and reading ends when the other side closes",
    async (pair) => {
      await openBoth(pair);
      const arrived = readAll(pair.near);
      for (const text of ["a", "é", "", "🎈".repeat(40_000), "z"]) await pair.far.write(encode(text));
      await pair.far.close();
      expectSame(await arrived, `aé${"🎈".repeat(40_000)}z`, "what arrived");
    },
  ],
  [
    "bytes go both ways at once",
    async (pair) => {
      await openBoth(pair);
      const arrived = [readAll(pair.near), readAll(pair.far)];
      await Promise.all([pair.near.write(encode("there")), pair.far.write(encode("back"))]);
      await Promise.all([pair.near.close(), pair.far.close()]);
      await Promise.all(arrived);
    },
  ],
  [
    "the writer may reuse its bytes",
    async (pair) => {
      await openBoth(pair);
      const bytes = encode("first");
      await pair.far.write(bytes);
      bytes.fill(0);
      await pair.far.close();
      expectSame(await readAll(pair.near), "first", "what arrived");
    },
  ],
  [
    "it is opened once",
    async ({ near }) => {
      const opening = near.open();
      expectThat(near.open() === opening, "a second open() is another promise");
      await opening;
    },
  ],
  [
    "nothing is carried before it is open",
    async ({ near }) => {
      await rejection(near.write(encode("x")), "a write before open()");
      await rejection(readAll(near), "a read before open()");
    },
  ],
  [
    "it is closed once, and then nothing is carried any more",
    async (pair) => {
      await openBoth(pair);
      const closing = pair.near.close();
      expectThat(pair.near.close() === closing, "a second close() is another promise");
      await closing;
      await rejection(pair.near.write(encode("x")), "a write after close()");
      await rejection(pair.near.open(), "an open after close()");
      expectSame(await readAll(pair.near), "", "what was read after close()");
    },
  ],
  ["it may be closed without ever being opened", ({ near }) => near.close()],
  [
    "a reader that waits is let go when it is closed",
    async (pair) => {
      await openBoth(pair);
      const arrived = readAll(pair.near);
      await pair.near.close();
      expectSame(await arrived, "", "what arrived");
    },
  ],
  [
    "a write that waits for a reader does not outlive the other side",
    async (pair) => {
      await openBoth(pair);
      const writes = rejection(writeForEver(pair.near), "writing to a side that has closed");
      await pair.far.close();
      await writes;
    },
  ],
  [
    "it has one reader",
    async (pair) => {
      await openBoth(pair);
      const first = readAll(pair.near);
      await rejection(readAll(pair.near), "a second reader");
      await pair.near.close();
      await first;
    },
  ],
];

async function writeForEver(transport: Transport): Promise<void> {
  const bytes = new Uint8Array(65_536);
  for (;;) await transport.write(bytes);
}
