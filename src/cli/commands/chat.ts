import { createInterface, type Interface } from "node:readline/promises";
import type { Command } from "commander";
import type { Message } from "#domain";
import { startRun } from "#runtime";
import { type AskFlags, addAskFlags, runOptions } from "../ask-flags.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { show } from "../show.ts";

export function addChatCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program.command("chat").description("talk with an agent");
  addAskFlags(command, io).action(async (flags: AskFlags) => {
    outcome.code = await chat(flags, io);
  });
}

/**
 * One question after the other until the input ends or `/exit`. Ctrl-C ends the answer; without one, the chat. The
 * exit code is the last answer's.
 */
async function chat(flags: AskFlags, io: CommandIo): Promise<number> {
  const options = await runOptions(flags, io);
  const lines = openLines(io);
  if (io.err.isTerminal)
    io.err.write(`millrace chat with ${flags.backend}. /exit or Ctrl-D leaves, /new starts over.\n`);
  let history: readonly Message[] = [];
  let code: number = EXIT.success;
  let isOpen = true;
  let isAnswering = false;
  lines.on("close", () => {
    isOpen = false;
  });
  lines.on("SIGINT", () => {
    // The terminal hands Ctrl-C to the line editor; an answer on its way hears of it as of any other interrupt.
    if (isAnswering) process.emit("SIGINT");
    else lines.close();
  });
  lines.setPrompt("> ");
  lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (text === "/exit" || text === "/quit") break;
    if (text === "/new") history = [];
    else if (text !== "") {
      isAnswering = true;
      const run = startRun(flags.backend, [...history, { role: "user", text }], options, io.world);
      code = await show(run, flags, io);
      isAnswering = false;
      history = (await run.result()).messages;
      if (io.out.isGone) break;
    }
    // A pipe may end while the answer is still on its way.
    if (isOpen) lines.prompt();
  }
  lines.close();
  return code;
}

function openLines(io: CommandIo): Interface {
  return createInterface({
    input: io.input,
    ...(io.err.isTerminal && { output: process.stderr }),
    terminal: io.err.isTerminal && io.input.isTTY === true,
  });
}
