import { present } from "#domain";
import type { RunOptions } from "#runtime";
import type { CommandIo } from "../io.ts";
import { loadTools } from "../load-tools.ts";
import { readTextFlag } from "../prompt.ts";
import type { AskFlags } from "./ask-flags.ts";

/** The flags as options of a run. Options without a flag are left out. */
export async function runOptions(flags: AskFlags, io: CommandIo): Promise<RunOptions> {
  const instructions = flags.instructions ?? flags.system;
  const tools = await readTools(flags, io);
  const limits = limitsOf(flags);
  const permissions = permissionsOf(flags);
  const session = sessionOf(flags);
  const claudeCode = claudeCodeOf(flags);
  return {
    ...(tools !== undefined && { tools }),
    ...(instructions !== undefined && { instructions: await readTextFlag("--instructions", instructions, io) }),
    ...present({
      limits,
      permissions,
      session,
      claudeCode,
      maxTokens: flags.maxTokens,
      thinkingTokens: flags.thinkingTokens,
    }),
    ...(flags.strict === true && { strict: true }),
  };
}

async function readTools(flags: AskFlags, io: CommandIo): Promise<RunOptions["tools"] | undefined> {
  if (flags.tools === false) return [];
  return typeof flags.tools === "string" ? await loadTools(flags.tools, io.cwd) : undefined;
}

function limitsOf({ maxTurns, maxCost, maxReplyBytes, timeout }: AskFlags): RunOptions["limits"] | undefined {
  if ([maxTurns, maxCost, maxReplyBytes, timeout].every((limit) => limit === undefined)) return undefined;
  return present({ turns: maxTurns, costUsd: maxCost, replyBytes: maxReplyBytes, timeoutMs: timeout });
}

function permissionsOf({ allow, deny, ask }: AskFlags): RunOptions["permissions"] | undefined {
  if (allow === undefined && deny === undefined && ask === undefined) return undefined;
  return { ...(allow && { allow }), ...(deny && { deny }), ...(ask && { ask }) };
}

function sessionOf(flags: AskFlags): RunOptions["session"] | undefined {
  if (flags.resume === undefined && flags.continue !== true && flags.fork !== true) return undefined;
  return {
    ...(flags.resume !== undefined && { resume: flags.resume }),
    ...(flags.continue === true && { continue: true }),
    ...(flags.fork === true && { fork: true }),
  };
}

function claudeCodeOf(flags: AskFlags): RunOptions["claudeCode"] | undefined {
  const { claudeExecutable, mode, permissionMode } = flags;
  if (claudeExecutable === undefined && mode === undefined && permissionMode === undefined) return undefined;
  return {
    ...present({ executable: claudeExecutable, mode }),
    ...(permissionMode !== undefined && { permissionMode: permissionMode as "plan" }),
  };
}
