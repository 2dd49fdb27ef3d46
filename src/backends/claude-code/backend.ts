import { describeThrown, StartError } from "#domain";
import { stoppingOn } from "#transports";
import type { AgentBackend, AgentSettings, Explanation } from "../backend.ts";
import { coverThrown } from "../cover-thrown.ts";
import { explain, warnOfIgnored } from "../routing/explain.ts";
import { type Argv, buildArgv } from "./argv.ts";
import { asksForPermission } from "./control/initialize.ts";
import { createControlConversation } from "./conversation/control.ts";
import { createPlainConversation, STATUS_NEEDS_CONTROL } from "./conversation/plain.ts";
import { type ClaudeCodeConversation, mergeSettings, SILENCE } from "./conversation/plan.ts";
import { type GatedFeature, hasFeature, requireFeature, requireFlags } from "./features.ts";
import { cliSecrets } from "./environment.ts";
import { findCli, type FoundCli, locateCommand } from "./find-cli.ts";
import { prepareCli } from "./launch.ts";
import type { ClaudeCodeWorld } from "./world.ts";
import { checkClaudeCodeOptions, type ClaudeCodeOptions } from "./options.ts";
import { createCover } from "./cover.ts";
import { createSessionFiles, isSessionSaved } from "./saved-session.ts";
import { withOwnSpawn } from "./own-spawn.ts";
import { cannotSendToAnthropic } from "#dialects";

/** The options of the backend: the CLI's, and those of its conversations. */
export interface ClaudeCodeBackendOptions extends ClaudeCodeOptions {
  /** Start the process of a conversation when it is opened, not with its first message. Control mode only. */
  readonly prewarm?: boolean;
}

/** Claude Code as an agent backend. */
export interface ClaudeCodeBackend extends AgentBackend {
  open(settings: AgentSettings): Promise<ClaudeCodeConversation>;
  /** Finds the CLI and its version, without starting a conversation. Rejects with `StartError`. */
  find(): Promise<FoundCli>;
}

/**
 * Creates the backend. Nothing is searched or started before a conversation is opened. @throws StartError
 * `invalid-option`.
 */
export function createClaudeCodeBackend(given: ClaudeCodeBackendOptions, machine: ClaudeCodeWorld): ClaudeCodeBackend {
  const { prewarm } = given;
  if (prewarm !== undefined && typeof prewarm !== "boolean") {
    throw new StartError("invalid-option", `claudeCode.prewarm is a ${typeof prewarm}. Give true or false.`);
  }
  const options = checkClaudeCodeOptions(given, ["prewarm"]);
  const world = withOwnSpawn(options, machine);
  let finding: Promise<FoundCli> | undefined;

  /** Once per backend: asking for the version costs a process. A failure is not cached, because it may be fixed. */
  const find = (): Promise<FoundCli> => {
    finding ??= findCli(options, world).catch((error: unknown) => {
      finding = undefined;
      throw error;
    });
    return finding;
  };

  const explainSettings = (settings: AgentSettings): Explanation =>
    explain({ backend: "claude-code", settings, options, limits: limitsOn(world.platform ?? process.platform) });

  return {
    kind: "agent",
    cannotSend: cannotSendToAnthropic,
    name: "claude-code",
    provider: "anthropic",
    model: options.model,
    cwd: options.cwd,
    keepsSessions: true,
    sessionFiles: createSessionFiles(options, world, (text) => createCover(options, world)(text)),
    explain: explainSettings,
    cannotControl: (control, settings) =>
      control === "mcpStatus" && explainSettings(settings).mode === "plain" ? STATUS_NEEDS_CONTROL : undefined,
    find,
    missing: () => describeMissing(options, world),
    secrets: (env) => cliSecrets({ ...options, env: { ...options.env, ...env } }, world),
    async open(given) {
      const lostSession = await findLost(given, options, world);
      const settings = lostSession === undefined ? given : { ...given, resume: undefined };
      const explanation = explainSettings(settings);
      if (settings.strict && explanation.ignored.length > 0) throw refuseIgnored(explanation);
      if (explanation.ignored.includes("unsaved-session") && settings.features.includes("session"))
        throw refuseUnsaved();
      const found = await find();
      const isControl = explanation.mode === "control";
      const merged = fitPartial(mergeSettings(options, settings), options, found);
      checkClaudeCodeOptions(merged);
      const cli = await prepareCli(found, merged, world);
      requireFeatures(cli, merged, { explanation, tools: isControl && settings.tools.length > 0 });
      const argv = argvFor(merged, explanation);
      requireFlags(cli.version, argv);
      const plan = {
        cli,
        options: merged,
        tools: isControl ? settings.tools : [],
        features: explanation.features,
        warnings: [...warnOfIgnored(explanation), ...cli.warnings, ...argv.warnings],
        idleMs: settings.idleMs ?? SILENCE.limitMs,
        keepRaw: settings.keepRaw ?? false,
        world,
        lostSession,
        resumeAt: settings.resume?.kind === "resume" ? settings.resume.at : undefined,
      };
      if (!isControl) return createPlainConversation(plan);
      const conversation = createControlConversation(plan);
      if (prewarm === true) await conversation.warmUp();
      return conversation;
    },
  };
}

/** A CLI that the caller starts is elsewhere, and cannot be looked for. */
async function describeMissing(options: ClaudeCodeOptions, world: ClaudeCodeWorld): Promise<string | undefined> {
  if (options.spawn !== undefined) return undefined;
  try {
    await locateCommand(options.executable, world);
    return undefined;
  } catch (error) {
    return describeThrown(coverThrown(error, createCover(options, world)));
  }
}

/** The id of the session to continue, if it is gone and may be replayed. */
async function findLost(
  { resume, cwd, env }: AgentSettings,
  options: ClaudeCodeOptions,
  world: ClaudeCodeWorld,
): Promise<string | undefined> {
  if (resume?.kind !== "resume" || resume.orReplay !== true) return undefined;
  const where = {
    ...((cwd ?? options.cwd) !== undefined && { cwd: cwd ?? options.cwd }),
    env: { ...options.env, ...env },
  };
  return (await isSessionSaved(resume.sessionId, where as ClaudeCodeOptions, world)) ? undefined : resume.sessionId;
}

/** Reported once, in explanations. On Linux it depends on the machine; `doctor` checks that. */
function limitsOn(platform: NodeJS.Platform): readonly string[] {
  return platform === "linux" ? [] : stoppingOn(platform).limits;
}

/** The arguments of the later start, for their warnings. */
function argvFor(options: ClaudeCodeOptions, { mode, features }: Explanation): Argv {
  return mode === "control"
    ? buildArgv(options, { mode, permissionPrompts: asksForPermission(features) })
    : buildArgv(options, { mode: "plain", prompt: "stdin" });
}

/** Deltas are optional unless the caller asked for them: a CLI that is too old works without. */
function fitPartial(merged: ClaudeCodeOptions, given: ClaudeCodeOptions, { version }: FoundCli): ClaudeCodeOptions {
  if (given.includePartialMessages !== undefined || version === undefined || hasFeature(version, "partial"))
    return merged;
  return { ...merged, includePartialMessages: false };
}

function requireFeatures(
  { version }: FoundCli,
  options: ClaudeCodeOptions,
  wanted: { readonly explanation: Explanation; readonly tools: boolean },
): void {
  const isControl = wanted.explanation.mode === "control";
  const needed: [GatedFeature, boolean][] = [
    ["control", isControl],
    ["streaming-tools", wanted.tools && options.includePartialMessages === true],
    ["guards", isControl && wanted.explanation.features.includes("guards")],
  ];
  for (const [feature, isNeeded] of needed) if (isNeeded) requireFeature(version, feature);
}

/** The second message would certainly fail, so a warning is not enough. */
function refuseUnsaved(): StartError {
  return new StartError(
    "feature-unavailable",
    'claudeCode.persistSession is false and claudeCode.mode is "plain": a session that is written nowhere cannot go on in another process. ' +
      'Leave claudeCode.mode out, set it to "control", or leave persistSession out.',
  );
}

function refuseIgnored({ ignored, mode }: Explanation): StartError {
  return new StartError(
    "feature-unavailable",
    `${ignored.join(", ")} cannot be used in ${mode} mode, and strict is on. Leave claudeCode.mode out, or set it to "control".`,
  );
}
