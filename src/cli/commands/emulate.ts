import type { Command } from "commander";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { parsePort } from "../flags/values.ts";
import { readJsonFile } from "../read-input.ts";

interface EmulateFlags {
  readonly port?: number;
  readonly script?: string;
  readonly strict: boolean;
}

export function addEmulateCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("emulate")
    .description("serve the offline model over HTTP: Anthropic, OpenAI and Gemini APIs on loopback")
    .option("-p, --port <n>", "port; any free one without it", parsePort)
    .option("-s, --script <file>", "what to answer, as JSON: rules with match, reply and fault")
    .option("--no-strict", "accept requests a real vendor would refuse")
    .action(async (flags: EmulateFlags) => {
      outcome.code = await emulate(flags, io);
    });
}

/** Serves until Ctrl-C. The address goes to stdout, for scripts; how to use it goes to stderr, for people. */
async function emulate(flags: EmulateFlags, io: CommandIo): Promise<number> {
  // Loaded here, so that the other commands start faster.
  const { createEmulator, parseScript } = await import("#emulator");
  const script = flags.script === undefined ? undefined : parseScript(await readJsonFile("--script", flags.script, io));
  const emulator = createEmulator({
    clock: io.world.clock,
    random: io.world.random,
    strict: flags.strict,
    ...(script !== undefined && { script }),
  });
  const { url } = await emulator.listen(flags.port === undefined ? {} : { port: flags.port });
  const interrupted = new Promise<void>((resolve) => {
    const release = io.onInterrupt(() => {
      release();
      resolve();
    });
  });
  io.out.write(`${url}\n`);
  io.err.write(
    `The offline model listens on ${url} until Ctrl-C.\n` +
      `  ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=offline\n` +
      `  OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=offline\n` +
      `  GOOGLE_GEMINI_BASE_URL=${url} GEMINI_API_KEY=offline\n`,
  );
  await interrupted;
  await emulator.close();
  return EXIT.success;
}
