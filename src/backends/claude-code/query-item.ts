import type { ErrorDetail, Raw, WarningDetail } from "#domain";
import type { JsonRecord } from "#wire";

/** One message of the CLI, in its own words. Only `type` is certain. */
export type ClaudeCodeMessage = JsonRecord & { readonly type: string };

/**
 * One item of a query. `raw` is the message's line exactly as it came, without its end. After an error with
 * `terminal` only `end` follows.
 */
export type QueryItem =
  | { readonly kind: "message"; readonly message: ClaudeCodeMessage; readonly raw: Raw }
  | { readonly kind: "warning"; readonly warning: WarningDetail }
  | { readonly kind: "error"; readonly error: ErrorDetail; readonly raw?: Raw | undefined }
  | { readonly kind: "end" };
