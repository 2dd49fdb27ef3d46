import type { Block, Chunk } from "#domain";
import type { JsonSchema } from "#tools";
import type { Format } from "./format.ts";
import type { ModelRequest } from "./model-request.ts";
import type { RequestText } from "./request-text.ts";

/** The address of a host and the credentials for it. */
export interface HostAddress {
  /** Empty if the host needs none. */
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Sent with every request, e.g. `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How to request a reply from one model of an HTTP API and read it: everything about a vendor's API except sending. */
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
  /** Settings of a request that the host does not support. */
  readonly ignores?: readonly ("thinkingTokens" | "parallelToolCalls")[];
  /** `true` if the model supports structured output for this schema, otherwise the reason why not. */
  nativeOutput(schema: JsonSchema, hasTools: boolean): true | string;
  /** Why a block cannot be sent; `undefined` if it can. */
  cannotSend(block: Block): string | undefined;
  /** The body of a request, as JSON. */
  encode(request: ModelRequest): RequestText;
  /** A notice to the caller about how a request was sent. */
  notice?(request: ModelRequest): Chunk | undefined;
}
