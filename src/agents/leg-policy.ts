import type { Clock, NextTurn } from "#domain";
import {
  createPolicy,
  type HookEffects,
  otherwiseOf,
  type PathLookup,
  type PermissionRules,
  type PolicySettings,
  type RunPolicy,
  strictest,
} from "#policy";
import type { RunWriter } from "#run";
import type { Leg } from "./leg.ts";

/** Returns the policy of a leg. `inherited`: the restrictions of earlier agents. */
export function createLegPolicy(
  leg: Leg,
  inherited: PermissionRules | undefined,
  run: {
    readonly writer: RunWriter;
    readonly context: unknown;
    readonly clock: Clock;
    readonly paths?: PathLookup | undefined;
    readonly nextTurn?: NextTurn | undefined;
  },
): RunPolicy {
  if (leg.policy === undefined && inherited === undefined) return NO_POLICY;
  const settings = leg.policy ?? EMPTY_POLICY;
  const { writer, context, clock, nextTurn } = run;
  return createPolicy(
    { ...settings, rules: [...(inherited === undefined ? [] : [inherited]), ...settings.rules] },
    {
      runId: writer.runId,
      agent: leg.agent,
      context,
      signal: writer.signal,
      clock,
      write: (chunks) => void writer.write(chunks, leg.agent),
      ask: writer.ask,
      canAnswer: writer.canAnswer,
      paths: pathsFor(leg, run.paths),
      nextTurn,
    },
  );
}

/** Deny rules and the strictest default are inherited across handoffs. Otherwise a handoff would bypass them. */
export function inheritRules(inherited: PermissionRules | undefined, leg: Leg): PermissionRules | undefined {
  const rules = [...(inherited === undefined ? [] : [inherited]), ...(leg.policy?.rules ?? [])];
  const deny = [...new Set(rules.flatMap((set) => set.deny ?? []))];
  const otherwise = strictest(rules.map(otherwiseOf));
  if (deny.length === 0 && otherwise === "allow") return inherited;
  return otherwise === "allow" ? { deny } : { deny, otherwise };
}

/** Relative paths in rules are resolved against the working directory of the agent. */
function pathsFor({ place, backend }: Leg, paths: PathLookup | undefined): PathLookup | undefined {
  const cwd = place?.cwd ?? (backend.kind === "agent" ? backend.cwd : undefined);
  return paths === undefined || cwd === undefined ? paths : { ...paths, cwd: inFolder(paths.cwd, cwd) };
}

function inFolder(folder: string, path: string): string {
  return /^(?:[A-Za-z]:)?[\\/]/.test(path) ? path : `${folder}/${path}`;
}

const EMPTY_POLICY: PolicySettings = {
  hooks: [],
  rules: [],
  permission: undefined,
  guards: [],
  outputMode: undefined,
};

const NOTHING: HookEffects = { notes: [], stop: undefined };

/** The policy of a leg without hooks, permissions and guards. Everything passes, and nothing is counted or copied. */
const NO_POLICY: RunPolicy = {
  isSilentOnTools: true,
  isSilentOnOutput: true,
  checkPrompt: async (messages) => ({ kind: "go", messages, ...NOTHING }),
  checkCall: async ({ input }) => ({ kind: "run", input, grant: { redeem: () => true }, ...NOTHING }),
  checkResult: async (_, { output, isError }) => ({ output, isError, ...NOTHING }),
  checkHandoff: async ({ message }) => ({ kind: "go", message, ...NOTHING }),
  noteHandoff: async () => NOTHING,
  checkStop: async () => ({ kind: "stop", ...NOTHING }),
  noteEnd: async () => undefined,
  createOutputGate: () => ({ pass: async (chunks) => chunks, drop: () => undefined, denial: undefined }),
};
