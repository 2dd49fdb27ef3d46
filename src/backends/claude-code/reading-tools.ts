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
