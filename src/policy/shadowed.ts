import type { WarningDetail } from "#domain";
import { matchesGlob } from "./matcher.ts";
import type { PermissionCallback, PermissionRules } from "./permission.ts";
import type { Rule } from "./rule.ts";
import { readRules } from "./rule-set.ts";

/**
 * Finds rules that allow a tool whatever its arguments, although a permission callback is set: the callback is never
 * called for these tools. A rule with an argument pattern leaves the rest to the callback and causes no warning.
 */
export function findShadowed(
  settings: { readonly rules: readonly PermissionRules[]; readonly permission: PermissionCallback | undefined },
  tools: readonly { readonly name: string }[],
): readonly WarningDetail[] {
  if (settings.permission === undefined) return [];
  const { allow, ask, deny } = readRules(settings.rules);
  const bare = allow.filter(
    (rule) => rule.scope === undefined && ![...ask, ...deny].some((other) => beats(other, rule)),
  );
  return bare.map(({ text, name }) => {
    const named = tools.map((tool) => tool.name).filter((tool) => matchesGlob(name, tool));
    const which = named.length === 0 ? "the tools it names" : named.join(", ");
    return {
      code: "callback-shadowed",
      message:
        `The rule "${text}" allows ${which} whatever the arguments are, so the permission callback is never asked about them. ` +
        "Give the rule a pattern for the arguments, or take it out.",
      context: { rule: text, tools: named },
    };
  });
}

/** Whether a rule that asks or denies covers everything another rule allows: then that rule shadows nothing. */
function beats(other: Rule, rule: Rule): boolean {
  return other.scope === undefined && matchesGlob(other.name, rule.name.join("*"));
}
