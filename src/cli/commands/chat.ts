import type { Command } from "commander";
import { addUsage } from "#domain";
import { startSession, type Target } from "#runtime";
import { plainText } from "#sinks";
import { type ChatLines, readMessage } from "../chat/lines.ts";
import { createPipedLines } from "../chat/piped-lines.ts";
import { type ChatState, LEAVE, runSlashCommand, SLASH_NAMES } from "../chat/slash-commands.ts";
import { createTerminalLines } from "../chat/terminal-lines.ts";
import { type AskFlags, addAskFlags, addShowFlags } from "../flags/ask-flags.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { planAsk } from "../plan-ask.ts";
import { isFullName, requireBackendName } from "../require-backend.ts";
import { say } from "../say.ts";
import { createAsk, show } from "../show.ts";

const EXAMPLES = `
Examples:
  millrace chat
  millrace chat -b claude-code --ask Bash
  printf 'What is 25 + 17?\\nAnd twice that?\\n' | millrace chat

In the chat, /help lists the commands. A line that ends in \\ continues on the next; pasted text is one message.
Ctrl-C ends the answer on its way, twice leaves the chat.`;

export function addChatCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program.command("chat").description("talk with an agent");
  addShowFlags(addAskFlags(command))
    .addHelpText("after", EXAMPLES)
    .action(async (flags: AskFlags) => {
      outcome.code = await chat(flags, io);
    });
}

/** Asks one question after the other until the input ends or the person leaves. Returns the last answer's exit code. */
async function chat(flags: AskFlags, real: CommandIo): Promise<number> {
  const { target, options } = await planAsk(flags, real, { asks: true });
  const open = () => startSession(target, options, real.world);
  let session = open();
  const isTerminal = real.input.isTTY === true && real.err.isTerminal;
  const typed = isTerminal ? createTerminalLines(real, SLASH_NAMES) : undefined;
  const lines = typed ?? createPipedLines(real.input);
  const io = typed?.io ?? real;
  const name = nameOf(target);
  let backend = name;
  const state: ChatState = {
    backend: name,
    model: undefined,
    tools: (options.tools ?? []).map((tool) => tool.name),
    usage: {},
    costUsd: undefined,
    turns: 0,
  };
  const controls = {
    state,
    async setModel(model: string) {
      const isFull = isFullName(model, backend);
      if (isFull) requireBackendName(model, "/model");
      await session.setModel(model);
      if (isFull) backend = model;
    },
    async startOver() {
      await session.close();
      session = open();
    },
  };
  if (isTerminal) say(`millrace chat with ${plainText(name)}. /help lists the commands, Ctrl-D leaves.`, io);
  // Claude Code accepts its own slash commands only if they were enabled.
  const passesCommands = name.startsWith("claude-code") && options.claudeCode?.slashCommands === true;
  // One for the whole chat, so that "always" stays in effect. With a pipe there is no person to ask.
  const ask = createAsk(io, typed === undefined ? async () => undefined : (text, signal) => typed.ask(text, signal));
  let code: number = EXIT.success;
  const watch = watchInterrupts(io, lines);
  try {
    for (;;) {
      const text = (await readMessage(lines))?.trim();
      if (text === undefined || watch.isLeaving) break;
      if (text === "") continue;
      const command = await runSlashCommand(text, controls, !passesCommands);
      if (command?.said === LEAVE) break;
      if (command?.said !== undefined) say(command.said, io);
      if (command !== undefined) continue;
      code = await answer(session, text, { flags, io, lines, ask, state, watch });
      if (io.out.isGone || watch.isLeaving) break;
    }
  } finally {
    watch.release();
    lines.close();
    await session.close();
  }
  return lines.wasLeft || watch.isLeaving ? EXIT.aborted : code;
}

interface Chat {
  readonly flags: AskFlags;
  readonly io: CommandIo;
  readonly lines: ChatLines;
  readonly ask: ReturnType<typeof createAsk>;
  readonly state: ChatState;
  readonly watch: Watch;
}

async function answer(session: ReturnType<typeof startSession>, text: string, chat: Chat): Promise<number> {
  const { io, lines, ask, state, watch } = chat;
  watch.reset();
  const run = session.send(text);
  run.on("start", ({ tools }) => {
    if (tools !== undefined) state.tools = tools;
  });
  const stopListening = lines.listen((line) => {
    if (line.trim() !== "/abort") return false;
    run.abort("aborted by /abort").catch(() => undefined);
    return true;
  });
  const code = await show(run, chat.flags, io, { ask, isOneOfMany: true });
  stopListening();
  const result = await run.result();
  state.turns += 1;
  state.usage = addUsage(state.usage, result.usage);
  if (result.costUsd !== undefined) state.costUsd = (state.costUsd ?? 0) + result.costUsd;
  return code;
}

function nameOf(target: Target): string {
  if (typeof target === "string") return target;
  if ("name" in target) return target.name;
  return target.agents.map((agent) => agent.name).join(", ");
}

interface Watch {
  readonly isLeaving: boolean;
  /** A new answer begins: the next Ctrl-C counts as the first again. */
  reset(): void;
  release(): void;
}

/** Ctrl-C during an answer ends the answer, which the run handles; a second one leaves, and so does SIGTERM. */
function watchInterrupts(io: CommandIo, lines: ChatLines): Watch {
  let presses = 0;
  let isLeaving = false;
  const release = io.onInterrupt((signal) => {
    presses += 1;
    if (signal === "SIGINT" && presses < 2) return;
    isLeaving = true;
    lines.close();
  });
  return {
    get isLeaving() {
      return isLeaving;
    },
    reset() {
      presses = 0;
    },
    release,
  };
}
