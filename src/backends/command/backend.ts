import { type Message, StartError, textOf } from "#domain";
import { secretsOfArguments, secretsOfVariables } from "#secrets";
import type { AgentBackend, AgentControl, AgentConversation, AgentSettings, Explanation } from "../backend.ts";
import { withResults } from "#dialects";
import type { CommandSettings, CommandWorld } from "./settings.ts";
import { CommandTurn, type StartedCommand } from "./turn.ts";

/** A foreign command as an agent: it is started for each turn with the prompt, and its output is read as events. */
export function createCommandBackend(settings: CommandSettings, world: CommandWorld): AgentBackend {
  return {
    kind: "agent",
    name: "command",
    model: undefined,
    cannotControl: (control) => UNCONTROLLED[control],
    cannotSend: withResults(() => "a command is given text alone. Leave it out, or write it as text."),
    secrets: (env) => commandSecrets(settings, env),
    missing: () => world.missing(),
    explain: (given) => explainCommand(settings, given),
    open: async (given) => createConversation({ ...settings, format: await settings.format.load() }, given, world),
  };
}

/** A running command accepts nothing but its prompt. */
const UNCONTROLLED: { readonly [Control in AgentControl]: string | undefined } = {
  setModel: "a command is started as it was given. Name the model in its arguments, and open another session",
  setPermissionMode: "a command has no permission modes. Give it arguments that limit what it does",
  setAgent: "a command has no agents to choose from. Open the session with swarm(…), and name one of its agents",
  mcpStatus: "a command is started and read; nothing else of it can be reached. Ask the program itself",
  warmUp: undefined,
};

/** The secrets of a command: those among its variables and arguments. */
export function commandSecrets(
  { executable, args, env }: Pick<CommandSettings, "executable" | "args" | "env">,
  more: Readonly<Record<string, string>> = {},
): readonly string[] {
  return [...secretsOfVariables({ ...env, ...more }), ...secretsOfArguments([executable, ...args])];
}

function explainCommand({ executable, format }: CommandSettings, { features }: AgentSettings): Explanation {
  const reasons = [`${executable} is started for each turn, and its output is read as ${format.name}`];
  const lines = ["Backend: command", "Mode: plain", `Features: ${features.join(", ") || "none"}`];
  return {
    backend: "command",
    mode: "plain",
    features,
    requiresControl: false,
    override: undefined,
    reasons,
    ignored: [],
    text: [...lines, ...reasons.map((reason) => `Reason: ${reason}`)].join("\n"),
  };
}

function createConversation(command: StartedCommand, settings: AgentSettings, world: CommandWorld): AgentConversation {
  /** The last turn. What it has started may still be stopped. */
  let turn: CommandTurn | undefined;
  const started: StartedCommand = {
    ...command,
    cwd: settings.cwd ?? command.cwd,
    env: { ...command.env, ...settings.env },
  };
  const refuse = (control: "setModel" | "setPermissionMode") => async (): Promise<void> => {
    throw new StartError("feature-unavailable", `${control} is not available on command: ${UNCONTROLLED[control]}.`);
  };
  return {
    sessionId: undefined,
    async send(messages, link) {
      await turn?.stop();
      if (link.signal.aborted) return;
      const { idleMs, keepRaw, replyBytes } = settings;
      turn = new CommandTurn(started, { ...world, idleMs, keepRaw, replyBytes }, link);
      await turn.carryOut(promptOf(messages));
    },
    interrupt: async () => turn?.stop(),
    setModel: refuse("setModel"),
    setPermissionMode: refuse("setPermissionMode"),
    close: async () => turn?.stop(),
  };
}

/** A command has no memory: the earlier conversation is sent again. */
function promptOf(messages: readonly Message[]): string {
  if (messages.length <= 1) return messages.map(({ blocks }) => textOf(blocks)).join("");
  return messages
    .map(({ role, blocks }) => `${role === "assistant" ? "Assistant" : "User"}: ${textOf(blocks)}`)
    .join("\n\n");
}
