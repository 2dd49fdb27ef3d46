import type { ErrorDetail, Raw, WarningDetail } from "#domain";
import type { ClaudeCodeMessage, UnlistedMessage } from "./messages/message.ts";

/**
 * One item of a query. `raw` is the message's line exactly as it arrived, without its end. After an error with
 * `terminal` only `end` follows.
 *
 * A line of an unknown type is the error `unexpected-message`, with the line and its content.
 */
export type QueryItem =
  | { readonly kind: "message"; readonly message: ClaudeCodeMessage; readonly raw: Raw }
  | { readonly kind: "warning"; readonly warning: WarningDetail }
  | {
      readonly kind: "error";
      readonly error: ErrorDetail;
      readonly raw?: Raw | undefined;
      readonly message?: UnlistedMessage | undefined;
    }
  | { readonly kind: "end" };
