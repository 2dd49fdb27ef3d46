import { type Chunk, type Diagnostic, type ErrorItem, errorItem } from "#domain";

const SECRET_HEADER = /key|token|secret|auth|cookie|password/i;

/** Shorter values are no secrets, and would be found everywhere. */
const SHORTEST_SECRET = 6;

/** Takes keys out of a text. */
export type Redact = (text: string) => string;

/**
 * Takes the keys of a request out of any text: hosts repeat the key they refuse, and errors are logged, stored and
 * shown to others.
 */
export function createRedaction(headers: Readonly<Record<string, string>>): Redact {
  let secrets: readonly string[] | undefined;
  return (text) => {
    // Looked for when there is an error to show: most exchanges have none.
    secrets ??= secretsOf(headers);
    return secrets.reduce((left, secret) => left.replaceAll(secret, "[key]"), text);
  };
}

/** The longest first: one may be part of another. */
function secretsOf(headers: Readonly<Record<string, string>>): readonly string[] {
  const secrets = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    if (!SECRET_HEADER.test(name)) continue;
    // "Bearer <key>": the key alone is what hosts repeat.
    for (const part of [value, ...value.split(/[\s;,=]+/)]) if (part.length >= SHORTEST_SECRET) secrets.add(part);
  }
  secrets.delete("Bearer");
  return [...secrets].sort((left, right) => right.length - left.length);
}

/** The same for the errors among chunks: a host may also complain in the middle of a stream. */
export function redactErrors(chunks: readonly Chunk[], redact: Redact): readonly Chunk[] {
  if (!chunks.some((chunk) => chunk.type === "error")) return chunks;
  return chunks.map((chunk) => (chunk.type === "error" ? redactError(chunk, redact) : chunk));
}

function redactError(error: ErrorItem, redact: Redact): ErrorItem {
  const { code, message, terminal, diagnostic, raw } = error;
  const json = raw === undefined ? "" : redact(raw.json);
  const kept = raw === undefined || json === raw.json ? raw : { json, bytes: new TextEncoder().encode(json) };
  return errorItem(
    {
      code,
      message: redact(message),
      terminal,
      ...(diagnostic !== undefined && { diagnostic: redactDiagnostic(diagnostic, redact) }),
    },
    kept === undefined ? {} : { raw: kept },
  );
}

function redactDiagnostic(diagnostic: Diagnostic, redact: Redact): Diagnostic {
  return Object.fromEntries(
    Object.entries(diagnostic).map(([name, value]) => [name, typeof value === "string" ? redact(value) : value]),
  );
}
