import { StartError } from "#domain";

/** An error on the command line. The message names the flag and the remedy. */
export function usageError(message: string, cause?: unknown): StartError {
  return new StartError("invalid-option", message, cause === undefined ? {} : { cause });
}
