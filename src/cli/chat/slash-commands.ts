import { adviceFor, isStartError, nearestName, type Usage } from "#domain";
import { plainLine, plainText } from "#sinks";

/** The state that the commands of a chat use. */
export interface ChatState {
  readonly backend: string;
  model: string | undefined;
  tools: readonly string[];
  usage: Usage;
  costUsd: number | undefined;
  turns: number;
}

export interface ChatControls {
  readonly state: ChatState;
  setModel(model: string): Promise<void>;
  /** Clears the conversation. */
  startOver(): Promise<void>;
}

interface SlashCommand {
  readonly usage: string;
  readonly about: string;
  run(argument: string, controls: ChatControls): string | undefined | Promise<string | undefined>;
}

/** Returned by a command that leaves the chat. */
export const LEAVE = "leave";

const leave: SlashCommand = { usage: "/quit", about: "leave (also /exit, Ctrl-D)", run: () => LEAVE };

const COMMANDS: ReadonlyMap<string, SlashCommand> = new Map<string, SlashCommand>([
  ["/help", { usage: "/help", about: "this list", run: () => describeCommands() }],
  [
    "/model",
    {
      usage: "/model [name]",
      about: "shows the model; with a name, changes it",
      async run(name, { state, setModel }) {
        if (name === "") return state.model ?? state.backend;
        try {
          await setModel(name);
          state.model = name;
          return `From now on ${plainLine(name, 80)} answers.`;
        } catch (error) {
          if (isStartError(error)) return plainText(adviceFor("shell", error.message));
          throw error;
        }
      },
    },
  ],
  [
    "/tools",
    {
      usage: "/tools",
      about: "the tools the agent has",
      run: (_, { state }) => (state.tools.length === 0 ? "No tools." : plainText(state.tools.join("\n"))),
    },
  ],
  ["/cost", { usage: "/cost", about: "what this chat has used so far", run: (_, { state }) => describeCost(state) }],
  [
    "/abort",
    { usage: "/abort", about: "end the current answer (also Ctrl-C)", run: () => "There is nothing to abort." },
  ],
  [
    "/new",
    {
      usage: "/new",
      about: "start a new conversation",
      async run(_, { startOver }) {
        await startOver();
        return undefined;
      },
    },
  ],
  ["/quit", leave],
  ["/exit", leave],
]);

export const SLASH_NAMES: readonly string[] = [...COMMANDS.keys()];

/**
 * Runs a command of the chat and returns its output. `undefined`: the text is a message. `isStrict`: an unknown command
 * is reported instead of being sent.
 */
export async function runSlashCommand(
  text: string,
  controls: ChatControls,
  isStrict: boolean,
): Promise<{ readonly said: string | undefined } | undefined> {
  const found = /^(\/[a-z]+)(?:\s+(.*))?$/.exec(text);
  if (found === null) return undefined;
  const [, name = "", argument = ""] = found;
  const command = COMMANDS.get(name);
  if (command !== undefined) return { said: await command.run(argument.trim(), controls) };
  const near = nearestName(name, SLASH_NAMES);
  if (!isStrict && near === undefined) return undefined;
  const guess = near === undefined ? "" : ` Did you mean ${near}?`;
  return { said: `There is no command ${name}.${guess} /help lists them.` };
}

function describeCommands(): string {
  const shown = [...new Set(COMMANDS.values())];
  return [
    ...shown.map(({ usage, about }) => `${usage.padEnd(16)}${about}`),
    "A line that ends in \\ continues on the next; pasted text is one message.",
    "Ctrl-C ends the answer; pressed twice, it ends the chat.",
  ].join("\n");
}

function describeCost({ turns, usage, costUsd }: ChatState): string {
  const parts = [`${turns} answer${turns === 1 ? "" : "s"}`];
  parts.push(`${usage.inputTokens ?? 0} tokens in, ${usage.outputTokens ?? 0} out`);
  parts.push(costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(4)}`);
  return parts.join(" · ");
}
