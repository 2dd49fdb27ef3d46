import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { CLAUDE_CODE_ROWS } from "../../src/runtime/claude-code-option-table.ts";
import { SUPPORT_COLUMNS, type SupportColumn } from "../../src/runtime/option-row.ts";
import { supportOf } from "../../src/runtime/option-support.ts";
import { OPTION_SUPPORT } from "../../src/runtime/option-table.ts";

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

/** Where the members of an option are declared. */
const DECLARED: Readonly<Record<string, readonly [file: string, name: string]>> = {
  limits: ["src/runtime/options.ts", "Limits"],
  session: ["src/runtime/options.ts", "SessionOptions"],
  replay: ["src/runtime/options.ts", "ReplaySource"],
  output: ["src/runtime/output-option.ts", "OutputRequest"],
  permissions: ["src/policy/permission.ts", "PermissionRules"],
  retry: ["src/agents/retry.ts", "RetryOptions"],
  telemetry: ["src/sinks/otel.ts", "TelemetryOptions"],
  claudeCode: ["src/backends/claude-code/options.ts", "ClaudeCodeOptions"],
};

/** What an option does, as its comment in the sources says. */
function describeOption(option: string): string {
  const [outer = "", member] = option.split(".");
  if (member !== undefined) {
    const [file, name] = DECLARED[outer] ?? ["src/runtime/options.ts", "ProviderOptions"];
    return readComment(file, name, member) ?? "";
  }
  const own = ["RunOptions", "PolicyOptions"].map((name) => readComment("src/runtime/options.ts", name, outer));
  return own.find((comment) => comment !== undefined) ?? "";
}

function readComment(file: string, name: string, member: string): string | undefined {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest, true);
  const declared = source.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === name);
  if (declared === undefined || !ts.isInterfaceDeclaration(declared)) throw new Error(`${file} has no ${name}.`);
  const found = declared.members.find((node) => node.name?.getText(source) === member);
  const [comment] = found === undefined ? [] : ts.getJSDocCommentsAndTags(found);
  const text = comment === undefined ? undefined : ts.getTextOfJSDocComment(comment.comment);
  return text?.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
}

const ROWS = Object.entries({ ...OPTION_SUPPORT, ...CLAUDE_CODE_ROWS } as Readonly<Record<string, Row>>);

const PAGE = `# Options of \`run\`

Which options does \`run\` have, what do they do, and where do they work? All of them are optional:

\`\`\`ts
import { run } from "millrace";

const answer = run("offline", "What is 25 + 17?", { instructions: "Be brief.", limits: { turns: 5, timeoutMs: 30_000 } });
console.log(await answer.output());
\`\`\`

## What they do

| option | does |
|---|---|
${ROWS.map(([option]) => `| \`${option}\` | ${describeOption(option)} |`).join("\n")}

## Where they work

Every option of \`run\`, \`openSession\`, \`agent\` and \`swarm\` either works on a backend, or the run says by name that it does not:
with a \`warning\` event of the code \`option-ignored\` (\`context.option\`), in \`explain(…).ignored\`, and, with \`strict: true\`, with a
\`StartError\` before anything starts. *Refused*: the run does not start at all, because the option would protect you and cannot.

In a swarm each agent is judged by its own backend; the warning carries the agent's name. Options for one backend (\`claudeCode\`, \`anthropic\` …),
\`cwd\` and \`env\` are used if any agent of the run takes them, also one that is a tool. This page is made from the tables in
\`src/runtime/option-table.ts\` and \`claude-code-option-table.ts\` (\`npx vitest run test/pins/options-page.test.ts -u\`).

Claude Code runs in control mode when something that was asked for needs it. With \`claudeCode: { mode: "plain" }\` the options \`tools\`,
\`hooks\`, \`permission\`, \`permissions\` and guards on tools are left out, with a warning of the code \`feature-ignored\`, or refused with \`strict\`.

| option | models behind an API | Claude Code, plain | Claude Code, control | \`command\` | other agents |
|---|---|---|---|---|---|
${ROWS.map(([option, row]) => {
  const cells = [modelsCell(row), ...AGENTS.map((column) => cell(row, column))];
  return `| \`${option}\` | ${cells.join(" | ")} |`;
}).join("\n")}

docs/claude-code.md describes the options in \`claudeCode\`. They, and those of a provider, are for backends that are given by name: one that was
made by hand (\`claudeCode({ … })\`, \`anthropic({ … })\`) has its own, and a run that gives it more is told so. \`test/conformance/option-proofs.ts\` has a proof
for every row: a field of a request, an argument of the CLI, or an event that a run without the option does not have; \`real-cli-proofs.ts\` beside it has one
for every row that works on Claude Code, seen on the real CLI. What a
configuration file holds for a backend (\`backends\`) is not warned of in runs that ask another one.
`;

it("F-C2: docs/options.md is the table in the code", async () => {
  await expect(PAGE).toMatchFileSnapshot("../../docs/options.md");
});

it("F: the page says of every option what it does", () => {
  expect(ROWS.map(([option]) => option).filter((option) => describeOption(option) === "")).toEqual([]);
});
