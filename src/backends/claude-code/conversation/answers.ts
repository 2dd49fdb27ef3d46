import { type ErrorDetail, isRunError, type McpServerStatus, StartError } from "#domain";
import { isRecord } from "#wire";

/** The tool servers in an answer to `mcp_status`. Invalid entries are left out. */
export function readServers(value: unknown): readonly McpServerStatus[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((server: unknown) => {
    if (!isRecord(server) || typeof server["name"] !== "string") return [];
    const { name, status } = server;
    return [{ ...server, name, status: typeof status === "string" ? status : "unknown" }];
  });
}

/** Converts the CLI's refusal of an unknown agent into a `StartError`. Other errors are returned unchanged. */
export function unknownAgent(name: string, error: unknown): unknown {
  if (!isRunError(error) || !/not found/i.test(error.message)) return error;
  return new StartError(
    "unknown-agent",
    `There is no agent "${name}" in claude-code. Name one of the option claudeCode.agents, or of Claude Code's own.`,
    { cause: error },
  );
}

/** The failure of a session that goes on as an agent that is not there: the CLI would go on without it, and say nothing. */
export function lostAgent(name: string | undefined, known: readonly string[] | undefined): ErrorDetail | undefined {
  if (name === undefined || known === undefined || known.includes(name)) return undefined;
  const message = `There is no agent "${name}" in claude-code. There are: ${known.join(", ")}.`;
  return { code: "feature-unavailable", message, terminal: true };
}
