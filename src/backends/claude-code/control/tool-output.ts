import { isRecord, type JsonRecord, ownRecord, ownString } from "#wire";

/**
 * The structured output of the CLI's own tools as readable text, and the reverse.
 *
 * The CLI accepts a replacement only in the tool's own format and otherwise silently uses the original. So `write`
 * produces only formats that were seen to work; for any other it returns `undefined`, and the caller must make sure
 * that the original goes nowhere.
 */
export interface ToolOutput {
  readonly value: unknown;
  write(replacement: unknown): unknown;
}

/** Reads the `tool_response` of a tool. */
export function readToolOutput(toolName: string, response: unknown): ToolOutput {
  if (isRecord(response)) {
    if (toolName === "Bash") return shellOutput(response);
    if (toolName === "Read") return fileOutput(response);
  }
  return { value: response ?? "", write: () => undefined };
}

function shellOutput(response: JsonRecord): ToolOutput {
  const stdout = ownString(response, "stdout");
  if (stdout === undefined) return { value: response, write: () => undefined };
  const stderr = ownString(response, "stderr") ?? "";
  return {
    value: [stdout, stderr].filter((text) => text !== "").join("\n"),
    // Nothing of the original is kept: other fields may contain the text, too.
    write: (replacement) => ({ stdout: asText(replacement), stderr: "", interrupted: false, isImage: false }),
  };
}

function fileOutput(response: JsonRecord): ToolOutput {
  const file = ownRecord(response, "file");
  const content = file === undefined ? undefined : ownString(file, "content");
  const filePath = file === undefined ? undefined : ownString(file, "filePath");
  if (response.type !== "text" || content === undefined || filePath === undefined) {
    return { value: response, write: () => undefined };
  }
  return {
    value: content,
    write(replacement) {
      const text = asText(replacement);
      const lines = text.split("\n").length;
      return { type: "text", file: { filePath, content: text, numLines: lines, startLine: 1, totalLines: lines } };
    },
  };
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
