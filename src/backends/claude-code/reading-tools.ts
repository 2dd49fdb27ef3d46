/** Tools of the CLI that look at files and change nothing, with the fields that say which files. */
export const READING_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Read: ["file_path"],
  NotebookRead: ["notebook_path"],
  LS: ["path"],
  Glob: ["path", "pattern"],
  Grep: ["path", "glob"],
};

/** Tools of the CLI that only keep its own list of things to do. */
export const MEMO_TOOLS: readonly string[] = ["TodoWrite", "TodoRead"];
