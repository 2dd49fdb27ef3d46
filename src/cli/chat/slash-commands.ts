import { adviceFor, isStartError, nearestName, type Usage } from "#domain";
import { plainLine, plainText } from "#sinks";

/** What the commands of a chat act on. */
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
  /** Forgets what was said. */
  startOver(): Promise<void>;
}

interface SlashCommand {
  readonly usage: string;
  readonly about: string;
  run(argument: string, controls: ChatControls): string | undefined | Promise<string | undefined>;
}

/** Given by a command that leaves the chat. */
export const LEAVE = "leave";

const leave: SlashCommand = { usage: "/quit", about: "leave (also /exit, Ctrl-D)", run: () => LEAVE };

const COMMANDS: ReadonlyMap<string, SlashCommand> = new Map<string, SlashCommand>([
  ["/help", { usage: "/help", about: "this list", run: () => describeCommands() }],
  [
    "/model",
    {
      usage: "/model [name]",
      about: "who answers; with a name, somebody else",
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
    { usage: "/abort", about: "end the answer on its way (also Ctrl-C)", run: () => "There is nothing to abort." },
  ],
  [
    "/new",
    {
      usage: "/new",
      about: "start over: forget what was said",
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
 * Carries out a command of the chat and gives what is to be said. `undefined`: it is a message. `isStrict`: what looks
 * like a command and is none is said so, instead of being sent.
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
    "A line that ends in \\ goes on in the next; pasted text is one message.",
    "Ctrl-C ends the answer; twice leaves.",
  ].join("\n");
}

function describeCost({ turns, usage, costUsd }: ChatState): string {
  const parts = [`${turns} answer${turns === 1 ? "" : "s"}`];
  parts.push(`${usage.inputTokens ?? 0} tokens in, ${usage.outputTokens ?? 0} out`);
  parts.push(costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(4)}`);
  return parts.join(" · ");
}
