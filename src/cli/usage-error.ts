import { StartError } from "#domain";

/** Something on the command line is wrong. The message names the flag and the remedy. */
export function usageError(message: string, cause?: unknown): StartError {
  return new StartError("invalid-option", message, cause === undefined ? {} : { cause });
}
