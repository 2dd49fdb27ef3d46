/** An MCP server that an agent uses by itself, as the agent reports it. */
export interface McpServerStatus {
  readonly name: string;
  /** In the agent's own words: `connected`, `failed`, `pending`, `needs-auth` … */
  readonly status: string;
  /** Anything else that the agent reports about it, with secrets masked. */
  readonly [field: string]: unknown;
}
