import { isRunError, type McpServerStatus, StartError } from "#domain";
import { isRecord } from "#wire";

/** The tool servers in an answer to `mcp_status`. What is no server is left out. */
export function readServers(value: unknown): readonly McpServerStatus[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((server: unknown) => {
    if (!isRecord(server) || typeof server["name"] !== "string") return [];
    const { name, status } = server;
    return [{ ...server, name, status: typeof status === "string" ? status : "unknown" }];
  });
}

/** The CLI's refusal of an agent it does not have as the error callers know it by. Another error stays what it is. */
export function unknownAgent(name: string, error: unknown): unknown {
  if (!isRunError(error) || !/not found/i.test(error.message)) return error;
  return new StartError(
    "unknown-agent",
    `There is no agent "${name}" in claude-code. Name one of the option claudeCode.agents, or of Claude Code's own.`,
    { cause: error },
  );
}
