import { isStartError, present, StartError } from "#domain";

/** Hides secrets in a value. */
export type Cover = <Value>(value: Value) => Value;

/** A thrown value, with its secrets hidden if it is a `StartError`. */
export function coverThrown(thrown: unknown, cover: Cover): unknown {
  return isStartError(thrown) ? coverStartError(thrown, cover) : thrown;
}

function coverStartError(error: StartError, cover: Cover): StartError {
  const { code, message, diagnostic, cause } = error;
  const shown = { message: cover(message), diagnostic: cover(diagnostic), cause: coverCause(cause, cover) };
  if (shown.message === message && shown.diagnostic === diagnostic && shown.cause === cause) return error;
  return new StartError(code, shown.message, present({ diagnostic: shown.diagnostic, cause: shown.cause }));
}

/** Errors of the system contain paths and arguments. One without secrets stays unchanged, with its stack. */
function coverCause(cause: unknown, cover: Cover): unknown {
  if (!(cause instanceof Error)) return cover(cause);
  const text = cover(cause.stack ?? cause.message);
  const fields = Object.fromEntries(Object.entries(cause));
  const shown = cover(fields);
  if (text === (cause.stack ?? cause.message) && shown === fields) return cause;
  return Object.assign(new Error(cover(cause.message)), shown);
}
