import { createFormatRegistry, type FormatRegistry } from "#dialects";

/** Creates a registry that contains the built-in formats. */
export function formatRegistry(): FormatRegistry {
  return createFormatRegistry();
}
