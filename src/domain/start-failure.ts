import { type ChunkOf, errorItem } from "./chunk.ts";
import { ERROR_CODES } from "./error-detail.ts";
import { describeThrown, isStartError } from "./errors.ts";
import type { ErrorItem } from "./event.ts";

/**
 * An error thrown at the start, as the terminal error of a run that has already begun. A start error keeps its code if
 * events have the same code.
 */
export function startFailure(thrown: unknown): ChunkOf<ErrorItem> {
  if (!isStartError(thrown)) {
    return errorItem({ code: "source-failed", message: describeThrown(thrown), terminal: true });
  }
  const { code, message, diagnostic } = thrown;
  return errorItem({
    code: ERROR_CODES.find((known) => known === code) ?? "source-failed",
    message,
    terminal: true,
    ...(diagnostic !== undefined && { diagnostic }),
  });
}
