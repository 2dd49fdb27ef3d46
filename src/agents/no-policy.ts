import type { HookEffects, RunPolicy } from "#policy";

const NOTHING: HookEffects = { notes: [], stop: undefined };

/** The policy of a leg nobody watches: everything passes, and nothing is counted or copied. */
export const NO_POLICY: RunPolicy = {
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
