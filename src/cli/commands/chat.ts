import { resolve } from "node:path";
import type { Command } from "commander";
import { addUsage } from "#domain";
import type { Target } from "#runtime";
import { plainText } from "#sinks";
import { type ChatConversation, type ChatRun, openKept, openPassing } from "../chat/conversation.ts";
import { type ChatLines, readMessage } from "../chat/lines.ts";
import { createPipedLines } from "../chat/piped-lines.ts";
import { type ChatState, LEAVE, runSlashCommand, SLASH_NAMES } from "../chat/slash-commands.ts";
import { createTerminalLines, type TerminalLines } from "../chat/terminal-lines.ts";
import { type AskFlags, addAskFlags, addShowFlags } from "../flags/ask-flags.ts";
import { requireText } from "../flags/values.ts";
import { type CommandIo, EXIT, type Interrupt, type Outcome } from "../io.ts";
import { planAsk } from "../plan-ask.ts";
import { isFullName, requireBackendName } from "../require-backend.ts";
import { say } from "../say.ts";
import { createAsk, show } from "../show.ts";

interface ChatFlags extends AskFlags {
  readonly data?: string;
}

const EXAMPLES = `
Examples:
  millrace chat
  millrace chat -b claude-code --ask Bash
  millrace chat --data ~/chat        a question that waits survives Ctrl-C, a crash and a closed terminal
  printf 'What is 25 + 17?\\nAnd twice that?\\n' | millrace chat

In the chat, /help lists the commands. A line that ends in \\ continues on the next; pasted text is one message.
Ctrl-C ends the answer on its way, twice leaves the chat.`;

export function addChatCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program.command("chat").description("talk with an agent");
  addShowFlags(
    addAskFlags(command).option(
      "--data <folder>",
      "keep the conversation here, and go on with the one in it",
      requireText,
    ),
  )
    .addHelpText("after", EXAMPLES)
    .action(async (flags: ChatFlags) => {
      outcome.code = await chat(flags, io);
    });
}

/** Asks one question after the other until the input ends or the person leaves. Returns the last answer's exit code. */
async function chat(flags: ChatFlags, real: CommandIo): Promise<number> {
  const plan = await planAsk(flags, real, { asks: true });
  const { target, options } = plan;
  const isTerminal = real.input.isTTY === true && real.err.isTerminal;
  const folder = flags.data === undefined ? undefined : resolve(real.cwd, flags.data);
  const conversation =
    folder === undefined ? openPassing(plan, real) : await openKept(plan, { folder, asks: isTerminal }, real);
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
      await conversation.setModel(model);
      if (isFull) backend = model;
    },
    startOver: () => conversation.startOver(),
  };
  if (isTerminal) say(`millrace chat with ${plainText(name)}. /help lists the commands, Ctrl-D leaves.`, io);
  if (isTerminal) for (const line of conversation.earlier) say(line, io);
  // Claude Code accepts its own slash commands only if they were enabled.
  const passesCommands = name.startsWith("claude-code") && options.claudeCode?.slashCommands === true;
  // One for the whole chat, so that "always" stays in effect. With a pipe there is no person to ask.
  const ask = createAsk(io, typed === undefined ? async () => undefined : askKeeping(typed, conversation));
  let code: number = EXIT.success;
  const watch = watchInterrupts(io, lines);
  const within = { flags, io, lines, ask, state, watch, conversation };
  let isLeft = false;
  try {
    const { unfinished } = conversation;
    if (unfinished !== undefined) {
      ({ code, isLeft } = await answer(await unfinished.takeUp(), { ...within, past: unfinished.past }));
    }
    while (!isLeft && !io.out.isGone && !watch.isLeaving) {
      const text = (await readMessage(lines))?.trim();
      if (text === undefined || watch.isLeaving) break;
      if (text === "") continue;
      const command = await runSlashCommand(text, controls, !passesCommands);
      if (command?.said === LEAVE) break;
      if (command?.said !== undefined) say(command.said, io);
      if (command !== undefined) continue;
      ({ code, isLeft } = await answer(await conversation.send(text), within));
    }
    if (isLeft) say(`This is not over. millrace chat --data ${plainText(flags.data ?? "")} goes on with it.`, io);
  } finally {
    watch.release();
    lines.close();
    await conversation.close();
  }
  return isLeft || lines.wasLeft || watch.isLeaving ? EXIT.aborted : code;
}

/** The end of the input is no answer to a question that is kept. */
function askKeeping({ ask }: TerminalLines, { suspend }: ChatConversation): TerminalLines["ask"] {
  return async (question, signal) => {
    const line = await ask(question, signal);
    if (line === undefined && !signal.aborted) suspend?.();
    return line;
  };
}

interface Chat {
  readonly flags: AskFlags;
  readonly io: CommandIo;
  readonly lines: ChatLines;
  readonly ask: ReturnType<typeof createAsk>;
  readonly state: ChatState;
  readonly watch: Watch;
  readonly conversation: ChatConversation;
  /** The number of the last event that an earlier chat has shown. */
  readonly past?: number;
}

/** `isLeft`: the run goes on in the next chat. */
async function answer(run: ChatRun, chat: Chat): Promise<{ readonly code: number; readonly isLeft: boolean }> {
  const { io, lines, ask, state, watch, past, conversation } = chat;
  watch.reset();
  run.on("start", ({ tools }) => {
    if (tools !== undefined) state.tools = tools;
  });
  const stopListening = lines.listen((line) => {
    if (line.trim() !== "/abort") return false;
    run.abort("aborted by /abort").catch(() => undefined);
    return true;
  });
  const stop = stopKeeping(run, conversation, lines);
  const { isStored } = conversation;
  const more = { ask, isOneOfMany: true, stop, isStored, ...(past !== undefined && { past }) };
  const code = await show(run, chat.flags, io, more);
  stopListening();
  const result = await run.result();
  state.turns += 1;
  state.usage = addUsage(state.usage, result.usage);
  if (result.costUsd !== undefined) state.costUsd = (state.costUsd ?? 0) + result.costUsd;
  return { code, isLeft: result.status === "waiting" };
}

/**
 * Ctrl-C ends an answer. If the answer waits for something outside, and is kept, it leaves the chat instead, as another
 * program that ends it always does. A kept answer that waits for work elsewhere does not outlive the input.
 */
function stopKeeping(run: ChatRun, { suspend }: ChatConversation, { ended }: ChatLines): (signal: Interrupt) => void {
  const asked = new Set<string>();
  const parked = new Set<string>();
  let hasEnded = false;
  const leaveParked = (): void => {
    if (hasEnded && parked.size > 0) suspend?.();
  };
  if (suspend !== undefined) {
    run.on("permission", ({ callId, state }) => void (state === "asked" ? asked.add(callId) : asked.delete(callId)));
    run.on("notice", ({ kind, data }) => {
      if (kind !== "call-parked") return;
      parked.add((data as { readonly callId: string }).callId);
      leaveParked();
    });
    run.on("tool-result", ({ callId }) => {
      asked.delete(callId);
      parked.delete(callId);
    });
    const onEnd = (): void => {
      hasEnded = true;
      leaveParked();
    };
    ended.then(onEnd, onEnd);
  }
  return (signal) => {
    if (suspend !== undefined && (signal === "SIGTERM" || asked.size + parked.size > 0)) suspend();
    else run.abort("interrupted").catch(() => undefined);
  };
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
