import type { Command } from "commander";
import { adviceFor } from "#domain";
import { explainIn } from "#runtime";
import { plainText } from "#sinks";
import { type AskFlags, addAskFlags } from "../flags/ask-flags.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { planAsk } from "../plan-ask.ts";
import { foldText } from "../say.ts";

const EXAMPLES = `
Examples:
  millrace explain -b claude-code --tools tools.mjs --permission-mode plan
  millrace explain -b claude-code --mode plain --ask Bash --json

Nothing is started: no key is needed, no process, no host.`;

export function addExplainCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  addAskFlags(program.command("explain").description("which way a run would go, and why"))
    .option("--json", "as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: AskFlags) => {
      const { target, options } = await planAsk(flags, io);
      const explanation = explainIn(target, options, io.world);
      io.out.write(
        flags.json === true
          ? `${JSON.stringify(explanation)}\n`
          : foldText(`${plainText(adviceFor("shell", explanation.text))}\n`, io.out),
      );
      outcome.code = EXIT.success;
    });
}
