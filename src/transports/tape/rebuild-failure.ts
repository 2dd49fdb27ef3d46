import { START_ERROR_CODES, StartError, type StartErrorCode, ToolFailure } from "#domain";
import type { TapeFailure } from "./tape.ts";

/** The brand of a connection that failed: this folder does not know the one that makes them. */
const CONNECTION_FAILURE = Symbol.for("millrace.ConnectionFailure");

/** An error that reads and acts like the one that was recorded. */
export function rebuildFailure(failure: TapeFailure): Error {
  const { name, message, code, host, answered } = failure;
  if (name === "ToolFailure") return new ToolFailure(message);
  if (name === "StartError") {
    const known = START_ERROR_CODES.find((one): one is StartErrorCode => one === code);
    if (known !== undefined) return new StartError(known, message);
  }
  const error = new Error(message);
  error.name = name;
  const fields: Record<string, unknown> = {};
  if (code !== undefined) fields["code"] = code;
  if (host !== undefined) fields["host"] = host;
  if (answered !== undefined) fields["answered"] = answered;
  Object.assign(error, fields);
  if (name === "ConnectionFailure") Object.assign(error, { [CONNECTION_FAILURE]: true });
  return error;
}
