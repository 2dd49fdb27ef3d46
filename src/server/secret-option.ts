import { StartError } from "#domain";

export const SHORTEST_TOKEN = 16;

/** Whether a value can be a secret of the server: long enough to be unguessable, and the same in any encoding. */
export function isSecret(value: unknown): value is string {
  return typeof value === "string" && value.length >= SHORTEST_TOKEN && /^[\u0021-\u007e]+$/.test(value);
}

/** The message contains no part of the secret, because messages end up in logs. */
export function requireSecret(field: string, value: unknown): void {
  if (isSecret(value)) return;
  throw new StartError(
    "invalid-option",
    `${field} must be at least ${SHORTEST_TOKEN} characters without blanks. Make one with: openssl rand -hex 24`,
  );
}
