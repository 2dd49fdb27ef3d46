import { isRecord } from "#domain";
import type { JsonSchema } from "../json-schema.ts";
import { type McpCallResult, toCallResult } from "./content.ts";
import {
  ownOf,
  readRpcMessage,
  RPC_CODES,
  type RpcAnswer,
  rpcError,
  type RpcId,
  type RpcParams,
  rpcResult,
} from "./json-rpc.ts";

/**
 * Versions of MCP that do not differ in the parts used here. The newest first: it is offered to a peer that asks for
 * another.
 */
export const MCP_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** A tool call of the server's peer. */
export interface ServerCall {
  readonly name: string;
  readonly input: unknown;
  /** The `_meta` of the request, defined by the peer. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Fires when the peer cancels the call. */
  readonly signal: AbortSignal;
}

/** The outcome of the call. */
export interface ServerOutcome {
  readonly output: unknown;
  readonly isError: boolean;
}

export interface ToolServerOptions {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: JsonSchema;
    readonly readOnly?: boolean | undefined;
  }[];
  /** Runs one of the tools. An exception becomes a failed answer. */
  readonly call: (call: ServerCall) => Promise<ServerOutcome>;
}

/**
 * Our tools as an MCP server in this process: JSON-RPC values in, JSON-RPC values out, without a socket or bytes.
 *
 * Calls run at the same time and may be answered in any order. A cancelled call is not answered.
 */
export interface ToolServer {
  readonly name: string;
  /** The answer to a message; `undefined` if it needs none. Never rejects, whatever the value. */
  receive(message: unknown): Promise<RpcAnswer | undefined>;
  /** Cancels all calls in progress. */
  close(): void;
}

/**
 * Creates a tool server for one peer.
 *
 * @example
 * const server = createToolServer({ name: "calc", version: "1", tools: [add], call: async ({ input }) => run(input) })
 * await server.receive({ jsonrpc: "2.0", id: 1, method: "tools/list" })
 */
export function createToolServer(options: ToolServerOptions): ToolServer {
  const running = new Map<RpcId, AbortController>();
  const known = new Set(options.tools.map((tool) => tool.name));

  const callTool = async (id: RpcId, params: RpcParams): Promise<RpcAnswer | undefined> => {
    const name = ownOf(params, "name");
    const input = ownOf(params, "arguments") ?? {};
    const meta = ownOf(params, "_meta");
    if (typeof name !== "string") return rpcError(id, RPC_CODES.invalidParams, "params.name must be a string");
    if (!isRecord(input)) return rpcError(id, RPC_CODES.invalidParams, "params.arguments must be an object");
    if (running.has(id)) return rpcError(id, RPC_CODES.invalidRequest, `A request with the id ${id} is under way`);
    // A model can correct a wrong name, so this is reported as the tool's answer rather than a protocol error.
    if (!known.has(name)) return rpcResult(id, unknownTool(name, [...known]));
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const { signal } = controller;
      const outcome = await options.call({ name, input, meta: isRecord(meta) ? meta : {}, signal });
      return signal.aborted ? undefined : rpcResult(id, toCallResult(outcome));
    } catch {
      // The thrown text may contain anything; what a tool wants the model to know comes as an outcome.
      return rpcResult(id, toCallResult({ output: `The tool "${name}" failed.`, isError: true }));
    } finally {
      running.delete(id);
    }
  };

  const notice = (method: string, params: RpcParams): void => {
    if (method !== "notifications/cancelled") return;
    const id = ownOf(params, "requestId");
    if (typeof id === "string" || typeof id === "number") running.get(id)?.abort();
  };

  const answer = async (id: RpcId, method: string, params: RpcParams): Promise<RpcAnswer | undefined> => {
    switch (method) {
      case "initialize":
        return initialize(id, params, options);
      case "ping":
        return rpcResult(id, {});
      case "tools/list":
        return rpcResult(id, { tools: options.tools.map(describeTool) });
      case "tools/call":
        return callTool(id, params);
      default:
        return rpcError(id, RPC_CODES.methodNotFound, `There is no method "${method.slice(0, 100)}"`);
    }
  };

  return {
    name: options.name,
    async receive(value) {
      const message = readRpcMessage(value);
      switch (message.kind) {
        case "request":
          return answer(message.id, message.method, message.params);
        case "notification":
          notice(message.method, message.params);
          return undefined;
        case "answer":
          return undefined;
        default:
          return rpcError(message.id, RPC_CODES.invalidRequest, "This is not a JSON-RPC request");
      }
    },
    close() {
      for (const controller of running.values()) controller.abort();
    },
  };
}

function initialize(id: RpcId, params: RpcParams, { name, version }: ToolServerOptions): RpcAnswer {
  const asked = ownOf(params, "protocolVersion");
  if (typeof asked !== "string") {
    return rpcError(id, RPC_CODES.invalidParams, "params.protocolVersion must be a string");
  }
  const protocolVersion = MCP_VERSIONS.find((known) => known === asked) ?? MCP_VERSIONS[0];
  return rpcResult(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version } });
}

function describeTool({ name, description, inputSchema, readOnly }: ToolServerOptions["tools"][number]): unknown {
  // Claude Code hides the tools of MCP servers until the model searches for them, unless they declare this.
  const described = { name, description, inputSchema, _meta: { "anthropic/alwaysLoad": true } };
  return readOnly === true ? { ...described, annotations: { readOnlyHint: true } } : described;
}

function unknownTool(name: string, known: readonly string[]): McpCallResult {
  const remedy = known.length === 0 ? "There are no tools." : `Use one of: ${known.join(", ")}.`;
  return toCallResult({ output: `There is no tool "${name.slice(0, 100)}". ${remedy}`, isError: true });
}
