/** Tools of the CLI that only read files, with the fields that name the files. */
export const READING_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Read: ["file_path"],
  NotebookRead: ["notebook_path"],
  LS: ["path"],
  Glob: ["path", "pattern"],
  Grep: ["path", "glob"],
};

/** Tools of the CLI that only keep its own to-do list. */
export const MEMO_TOOLS: readonly string[] = ["TodoWrite", "TodoRead"];

/** Tools of the CLI that were renamed, with all of their names. It still accepts the older ones, also in its own rules. */
const RENAMED_TOOLS: readonly (readonly string[])[] = [
  ["Agent", "Task"],
  ["TaskOutput", "BashOutput", "BashOutputTool", "AgentOutput", "AgentOutputTool"],
  ["TaskStop", "KillShell", "KillBash"],
];

/** The other names of a tool of the CLI. */
export function otherNamesOf(name: string): readonly string[] {
  return RENAMED_TOOLS.find((names) => names.includes(name))?.filter((other) => other !== name) ?? [];
}
