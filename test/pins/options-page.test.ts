import { expect, it } from "vitest";
import {
  CLAUDE_CODE_ROWS,
  OPTION_SUPPORT,
  SUPPORT_COLUMNS,
  type SupportColumn,
  supportOf,
} from "../../src/runtime/option-support.ts";

type Row = (typeof OPTION_SUPPORT)[keyof typeof OPTION_SUPPORT];

const AGENTS: readonly SupportColumn[] = ["claude-code (plain)", "claude-code (control)", "command", "another agent"];
const MODELS = SUPPORT_COLUMNS.filter((column) => !AGENTS.includes(column));

function cell(row: Row, column: SupportColumn): string {
  const support = supportOf(row, column);
  if (typeof support === "string") return support === "works" ? "works" : "ignored";
  return "refused" in support ? "refused" : `works: ${support.note}`;
}

/** The models in one cell: what most of them do, then those that differ. */
function modelsCell(row: Row): string {
  const rest = cell(row, "another model");
  const others = MODELS.map((column) => [column, cell(row, column)] as const).filter(([, text]) => text !== rest);
  return [rest, ...others.map(([column, text]) => `${column} ${text}`)].join("; ");
}

const PAGE = `# Options, backend by backend

Every option of \`run\`, \`openSession\`, \`agent\` and \`swarm\` either works on a backend, or the run says by name that it does not:
with a \`warning\` event of the code \`option-ignored\` (\`context.option\`), in \`explain(…).ignored\`, and, with \`strict: true\`, with a
\`StartError\` before anything starts. *Refused*: the run does not start at all, because the option would protect you and cannot.

In a swarm each agent is judged by its own backend; the warning carries the agent's name. This page is made from the table in
\`src/runtime/option-support.ts\` (\`npx vitest run test/pins/options-page.test.ts -u\`).

Claude Code runs in control mode when something that was asked for needs it. With \`claudeCode: { mode: "plain" }\` the options \`tools\`,
\`hooks\`, \`permission\`, \`permissions\` and guards on tools are left out, with a warning of the code \`feature-ignored\`, or refused with \`strict\`.

| option | models behind an API | Claude Code, plain | Claude Code, control | \`command\` | other agents |
|---|---|---|---|---|---|
${Object.entries({ ...OPTION_SUPPORT, ...CLAUDE_CODE_ROWS } as Readonly<Record<string, Row>>)
  .map(([option, row]) => {
    const cells = [modelsCell(row), ...AGENTS.map((column) => cell(row, column))];
    return `| \`${option}\` | ${cells.join(" | ")} |`;
  })
  .join("\n")}

docs/claude-code.md describes the options in \`claudeCode\`. They, and those of a provider, are for backends that are given by name: one that was
made by hand (\`claudeCode({ … })\`, \`anthropic({ … })\`) has its own, and a run that gives it more is told so. \`test/conformance/option-proofs.ts\` has a proof
for every row: a field of a request, an argument of the CLI, or an event that a run without the option does not have. What a
configuration file holds for a backend (\`backends\`) is not warned of in runs that ask another one.
`;

it("F-C2: docs/options.md is the table in the code", async () => {
  await expect(PAGE).toMatchFileSnapshot("../../docs/options.md");
});
