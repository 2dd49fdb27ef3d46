import type { Block, Chunk } from "#domain";
import type { JsonSchema } from "#tools";
import type { Format } from "./format.ts";
import type { ModelRequest } from "./model-request.ts";
import type { RequestText } from "./request-text.ts";

/** Where a host is, and what opens it. */
export interface HostAddress {
  /** Empty when the host needs none. */
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Sent with every request, e.g. `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How one model behind an HTTP API is asked and its reply is read: all of a vendor's API but the sending. */
export interface ModelHost {
  /** The name shown in events and messages: `anthropic`, `openrouter` … */
  readonly provider: string;
  readonly model: string;
  readonly address: HostAddress;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the key came from, for the remedy of an authentication error. */
  readonly keyHint: string;
  readonly format: Format;
  /** Parts of a request that the host cannot be asked for. */
  readonly ignores?: readonly ("thinkingTokens" | "parallelToolCalls")[];
  /** Whether the model can be asked for answers of this form; otherwise why not. */
  nativeOutput(schema: JsonSchema, hasTools: boolean): true | string;
  /** Why a block cannot be sent; `undefined`: it can. */
  cannotSend(block: Block): string | undefined;
  /** The body of a request, as JSON. */
  encode(request: ModelRequest): RequestText;
  /** What a caller is to know about how a request was sent. */
  notice?(request: ModelRequest): Chunk | undefined;
}
