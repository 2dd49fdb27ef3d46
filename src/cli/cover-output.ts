import { createSecretMask, secretsOfArguments, secretsOfVariables } from "#secrets";
import type { CommandIo, Output } from "./io.ts";

/**
 * The same command line, which shows none of its secrets: those of its variables and of its arguments, and those it
 * learns of later, such as the keys in a configuration. Whatever is written passes here, what we did not foresee
 * included.
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
      // At once, and not when it is certain that no secret goes on: somebody may be waiting for a question.
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
