import { createFormatRegistry, type FormatRegistry } from "#dialects";

/** A registry of one's own with the built-in formats in it. */
export function formatRegistry(): FormatRegistry {
  return createFormatRegistry();
}
