import { resolve } from "node:path";
import type { Command } from "commander";
import { replayIn } from "#runtime";
import { addShowFlags } from "../flags/ask-flags.ts";
import { parseSpeed } from "../flags/values.ts";
import type { CommandIo, Outcome } from "../io.ts";
import { type ShowFlags, show } from "../show.ts";

interface ReplayFlags extends ShowFlags {
  readonly speed?: number;
  readonly allowTorn?: boolean;
}

const EXAMPLES = `
Examples:
  millrace run --record bug.tape "What is 25 + 17?"
  millrace replay bug.tape                  what happened, without network, CLI or key
  millrace replay bug.tape --speed 1        as slowly as it was
  millrace replay bug.tape --json | jq .type

Nothing of yours runs. To try a changed prompt, tool or rule against the recorded model: millrace run --replay bug.tape`;

export function addReplayCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program
    .command("replay")
    .description("play a recorded run: the same events, without network, CLI or key")
    .argument("<tape>", "the file that --record wrote")
    .option("--speed <n>", "1 is the recorded speed, 2 twice that (default: max)", parseSpeed)
    .option("--allow-torn", "play a tape without its end as far as it goes")
    .option("--json", "one event per line, as JSON");
  addShowFlags(command)
    .addHelpText("after", EXAMPLES)
    .action(async (tape: string, flags: ReplayFlags) => {
      const options = {
        ...(flags.speed !== undefined && { speed: flags.speed }),
        ...(flags.allowTorn === true && { allowTorn: true }),
      };
      const run = replayIn(resolve(io.cwd, tape), options, io.world);
      // The answers are on the tape.
      outcome.code = await show(withoutAnswers(run), flags, io);
    });
}

/** The run without its `answer` method. */
function withoutAnswers(run: ReturnType<typeof replayIn>) {
  return {
    [Symbol.asyncIterator]: () => run[Symbol.asyncIterator](),
    result: () => run.result(),
    abort: (reason?: unknown) => run.abort(reason),
  };
}
