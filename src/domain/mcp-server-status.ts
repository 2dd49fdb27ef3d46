/** An MCP server that an agent talks to by itself, as the agent reports it. */
export interface McpServerStatus {
  readonly name: string;
  /** In the agent's own words: `connected`, `failed`, `pending`, `needs-auth` … */
  readonly status: string;
  /** Whatever else the agent reports of it, secrets covered. */
  readonly [field: string]: unknown;
}
