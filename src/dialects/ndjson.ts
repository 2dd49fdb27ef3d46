import { createDeclarativeFormat, type DeclarativeFormat } from "./declarative/create-format.ts";

/** Where tools that print JSON lines put their text. Lists of content parts come before the list itself. */
const TEXT = [
  "text",
  "content[].text",
  "content",
  "message.content[].text",
  "message.content",
  "message.text",
  "message",
  "data.text",
  "data",
];

const USAGE = {
  inputTokens: ["usage.input_tokens", "usage.inputTokens", "usage.prompt_tokens"],
  outputTokens: ["usage.output_tokens", "usage.outputTokens", "usage.completion_tokens"],
};

/**
 * The generic format for a command that prints JSON lines: text from `text`, `content`, `message` or `data`, thinking,
 * tool calls and errors by their `type`. A line with none of these is kept as `unknown:<type>`.
 *
 * It has no end signal; the exit status shows whether the command succeeded.
 *
 * @example
 * run(command(["my-agent", "--json"], { format: ndjson }), "Hello")
 */
export const ndjson: DeclarativeFormat = createDeclarativeFormat({
  name: "ndjson",
  framing: "ndjson",
  description: "JSON lines of any command: text, thinking, tool calls and errors where they are usually found",
  events: [
    {
      kind: "error",
      match: { type: "error" },
      extract: { message: ["message", "error.message", "error", "text"], code: ["code", "error.code", "error.type"] },
      templates: { text: "Error: @evt.message", ansi: "%red%Error:%reset% @evt.message" },
    },
    {
      kind: "thinking",
      match: { type: ["thinking", "reasoning"] },
      extract: { text: ["thinking", "reasoning", ...TEXT] },
      templates: { text: "@evt.text", ansi: "%dim%@evt.text%reset%" },
    },
    {
      kind: "tool-use",
      match: { type: ["tool_use", "tool-use", "tool_call", "tool-call"] },
      extract: {
        id: ["id", "tool_use_id", "tool_call_id", "call_id", "callId"],
        name: ["name", "tool_name", "toolName", "tool"],
        input: ["input", "parameters", "arguments", "args"],
      },
      templates: { text: "[@evt.name] @evt.input", ansi: "%cyan%[@evt.name]%reset% @evt.input" },
    },
    {
      kind: "tool-result",
      match: { type: ["tool_result", "tool-result"] },
      extract: {
        id: ["tool_use_id", "tool_call_id", "call_id", "callId", "id"],
        name: ["name", "tool_name", "toolName", "tool"],
        output: ["output", "result", "content"],
        isError: ["is_error", "isError"],
        success: "success",
        status: "status",
      },
      templates: { text: "[@evt.id] @evt.output", ansi: "%green%[@evt.id]%reset% @evt.output" },
    },
  ],
  defaultSchema: {
    kind: "message",
    extract: { text: TEXT, role: ["role", "message.role"], ...USAGE },
    templates: { text: "@evt.text", ansi: "@evt.text" },
  },
});
