import { isRecord } from "#domain";
/** The codes of JSON-RPC 2.0 that a tool server uses. */
export const RPC_CODES = { invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602 } as const;

export type RpcId = string | number;

/** A parsed message: a request, a notification, an answer, or something invalid. */
export type RpcMessage =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: RpcParams }
  | { readonly kind: "notification"; readonly method: string; readonly params: RpcParams }
  /** An answer to a request. A tool server sends no requests, so answers are ignored. */
  | { readonly kind: "answer" }
  | { readonly kind: "invalid"; readonly id: RpcId | null };

export type RpcParams = Readonly<Record<string, unknown>>;

/** The answer to a request. */
export type RpcAnswer =
  | { readonly jsonrpc: "2.0"; readonly id: RpcId; readonly result: unknown }
  | {
      readonly jsonrpc: "2.0";
      readonly id: RpcId | null;
      readonly error: { readonly code: number; readonly message: string };
    };

/** Parses a JSON value as a message. Never throws. */
export function readRpcMessage(value: unknown): RpcMessage {
  if (!isRecord(value)) return { kind: "invalid", id: null };
  const id = readId(ownOf(value, "id"));
  const method = ownOf(value, "method");
  const params = ownOf(value, "params");
  if (method === undefined && (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"))) {
    return { kind: "answer" };
  }
  if (typeof method !== "string" || !isParams(params)) return { kind: "invalid", id: id ?? null };
  if (id !== undefined) return { kind: "request", id, method, params: params ?? {} };
  // An `id: null` cannot be answered.
  if (Object.hasOwn(value, "id")) return { kind: "invalid", id: null };
  return { kind: "notification", method, params: params ?? {} };
}

export function rpcResult(id: RpcId, result: unknown): RpcAnswer {
  return { jsonrpc: "2.0", id, result };
}

export function rpcError(id: RpcId | null, code: number, message: string): RpcAnswer {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** An own property: the sender chooses the keys, and must not reach the prototype with them. */
export function ownOf(record: RpcParams, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function readId(value: unknown): RpcId | undefined {
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value)) ? value : undefined;
}

function isParams(value: unknown): value is RpcParams | undefined {
  return value === undefined || isRecord(value);
}
