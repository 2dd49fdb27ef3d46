import type { Command } from "commander";
import { createEmulator } from "#emulator";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { parseCount } from "../parse-count.ts";

export function addEmulateCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("emulate")
    .description("serve the offline model over HTTP: Anthropic, OpenAI and Gemini APIs on loopback")
    .option("-p, --port <n>", "port; any free one without it", parseCount)
    .option("--no-strict", "accept requests a real vendor would refuse")
    .action(async (flags: { readonly port?: number; readonly strict: boolean }) => {
      const emulator = createEmulator({ clock: io.world.clock, random: io.world.random, strict: flags.strict });
      const server = await emulator.listen(flags.port === undefined ? {} : { port: flags.port });
      io.err.write(
        `The offline model listens on ${server.url} until Ctrl-C.\n` +
          `  ANTHROPIC_BASE_URL=${server.url} ANTHROPIC_API_KEY=offline\n` +
          `  OPENAI_BASE_URL=${server.url}/v1 OPENAI_API_KEY=offline\n` +
          `  GOOGLE_GEMINI_BASE_URL=${server.url} GEMINI_API_KEY=offline\n`,
      );
      await new Promise<void>((resolve) => {
        const release = io.onInterrupt(() => {
          release();
          resolve();
        });
      });
      await server.close();
      outcome.code = EXIT.success;
    });
}
