import { createSecretMask, secretsOfArguments, secretsOfVariables } from "#secrets";
import type { CommandIo, Output } from "./io.ts";

/**
 * The same command line, with all secrets hidden in its output: those of variables and arguments, and those found
 * later, such as the keys in a configuration. All output passes through here, so secrets in unforeseen output are
 * hidden, too.
 */
export function coverOutput(io: CommandIo, argv: readonly string[]): CommandIo {
  const known = [...secretsOfVariables(io.world.env), ...secretsOfArguments(argv)];
  const covers: (() => void)[] = [];
  const outputOf = (real: Output): Output => {
    let mask = createSecretMask(known)?.stream();
    covers.push(() => {
      mask = createSecretMask(known)?.stream();
    });
    return {
      // Written at once, although a secret may continue in the next write: a question must not be held back.
      write: (text) => real.write(mask === undefined ? text : mask.push(text) + mask.tear()),
      room: () => real.room(),
      get isGone() {
        return real.isGone;
      },
      isTerminal: real.isTerminal,
      get columns() {
        return real.columns;
      },
    };
  };
  return {
    out: outputOf(io.out),
    err: outputOf(io.err),
    get input() {
      return io.input;
    },
    get inputKind() {
      return io.inputKind;
    },
    world: io.world,
    cwd: io.cwd,
    onInterrupt: (interrupt) => io.onInterrupt(interrupt),
    written: () => io.written(),
    cut: () => io.cut(),
    hide(secrets) {
      known.push(...secrets);
      for (const cover of covers) cover();
    },
  };
}
