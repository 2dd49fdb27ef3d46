import { resolve } from "node:path";
import type { ErrorDetail } from "#domain";
import { createPolicy, type RunPolicy } from "#policy";
import type { AgentLink } from "../backend.ts";
import type { ConversationPlan } from "./conversation/plan.ts";

/** A path in a prompt: `@"a name with blanks"`, `@src/a.ts`. An address such as `ada@example.com` is none. */
const QUOTED = /(?<!\w)@"([^"]+)"/g;
const BARE = /(?<!\w)@(?!")(\S+)/g;

/**
 * The paths that the CLI may attach as files, without surrounding punctuation and without a range of lines. The CLI
 * looks for both forms in the whole text, so neither can hide the other.
 */
export function findAttachments(text: string): readonly string[] {
  const paths = new Set<string>();
  for (const [, path = ""] of text.matchAll(QUOTED)) paths.add(path).add(path.replace(/#.*$/s, ""));
  for (const [, bare = ""] of text.matchAll(BARE)) {
    for (const path of [bare, bare.replace(/".*$/s, "")]) paths.add(path.replace(/[^\w/~]+$/, "").replace(/#.*$/s, ""));
  }
  paths.delete("");
  return [...paths];
}

/**
 * Asks the policy about every file that a prompt would attach, as if the agent wanted to read it. The error names the
 * one that is not allowed; then nothing may be sent.
 */
export async function judgeAttachments(
  text: string,
  plan: ConversationPlan,
  link: AgentLink,
): Promise<ErrorDetail | undefined> {
  const { attachments, disallowedTools = [], cwd } = plan.options;
  if (attachments !== true) return undefined;
  const policies = [link.policy, ...(disallowedTools.length === 0 ? [] : [denying(disallowedTools, plan, link)])];
  const folder = cwd === undefined || cwd === "" ? plan.world.cwd : resolve(plan.world.cwd, cwd);
  const paths = new Set(findAttachments(text).map((path) => resolvePath(path, folder, plan.world.env["HOME"])));
  let number = 0;
  for (const path of paths) {
    number += 1;
    for (const policy of policies) {
      const reason = await judge({ path, callId: `attachment-${number}` }, policy);
      if (reason === undefined) continue;
      const message = `The prompt names the file ${JSON.stringify(path)}, and the agent may not read it: ${endSentence(reason)} Nothing was sent. Leave the @ out, or allow Read for it.`;
      return { code: "prompt-blocked", message, terminal: true };
    }
  }
  return undefined;
}

/** Why a file may not be read; `undefined` if it may. */
async function judge(
  { path, callId }: { readonly path: string; readonly callId: string },
  policy: RunPolicy,
): Promise<string | undefined> {
  if (policy.isSilentOnTools) return undefined;
  const input = { file_path: path };
  const verdict = await policy.checkCall({ callId, name: "Read", input, executedBy: "backend" });
  if (verdict.kind === "denied") return verdict.reason;
  if (verdict.stop !== undefined) return verdict.stop;
  // The CLI reads the path in the prompt; a path that a hook has changed cannot replace it.
  return verdict.grant.redeem(input) ? undefined : "Its path was changed, which cannot be done here.";
}

/** The caller's list of tools that never run. The CLI itself does not apply it to attachments. */
function denying(deny: readonly string[], { world }: ConversationPlan, link: AgentLink): RunPolicy {
  return createPolicy(
    { hooks: [], rules: [{ deny }], permission: undefined, guards: [], outputMode: undefined },
    {
      runId: link.runId,
      agent: undefined,
      context: undefined,
      signal: link.signal,
      clock: world.clock,
      write: (chunks) =>
        void link.write(chunks.filter((chunk) => chunk.type !== "permission" || chunk.state === "denied")),
      ask: async () => ({ allow: false }),
    },
  );
}

function resolvePath(path: string, folder: string, home: string | undefined): string {
  if (home !== undefined && (path === "~" || path.startsWith("~/"))) return resolve(home, path.slice(2));
  return resolve(folder, path);
}

export function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
