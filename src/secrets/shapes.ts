import type { Span } from "./span.ts";

/**
 * The shapes of secrets. Where a pattern has a group, the group is the secret. Every pattern starts at a fixed word and
 * has bounded parts before one greedy class, so that all of them together take linear time; only the private key may
 * span several lines.
 */
const SHAPES: readonly RegExp[] = [
  // Keys with a known prefix. The lookbehind excludes `task-…` and the middle of base64.
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{16,64}(?![A-Za-z0-9_-])/g,
  /(?<![A-Za-z0-9])(?:gh[opsru]_|hf_|npm_|gsk_|xai-|glpat-|github_pat_)[A-Za-z0-9_-]{16,}/g,
  /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{20,}/g,
  // A signed token: three parts in base64, the first of which begins with `{"`.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,2048})?/g,
  /(?<![A-Za-z0-9])bearer[ \t]{1,4}(?=[A-Za-z._~+/=-]{0,64}[0-9]|[A-Za-z._~+/=-]{20})([A-Za-z0-9._~+/=-]{6,})/gi,
  // A long value after a name that identifies it as a secret. A letter is required: a bare number may be JSON.
  /(?:api[-_ ]?key|access[-_ ]?key|secret|private[-_ ]?key|token|authorization|credential|password|passwd)s?["'\\]{0,4}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,4}(?:(?:bearer|basic)[ \t]{1,4})?(?=[0-9+/_=.~-]{0,64}[A-Za-z])([A-Za-z0-9+/_=.~-]{16,})/gi,
  /(?<![A-Za-z])(?:pwd|account[-_]?key|shared[-_]?access[-_]?key)[ \t]{0,4}=[ \t]{0,4}(?![/~$]|[A-Za-z]:)([^;"'\\\s]{6,256})/gi,
  /(?:password|passwd|passphrase)["'\\]{0,4}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{1,4}([^"'\\\s]{4,128})/gi,
  // URLs: the password before the @, and parameters that are keys.
  /:\/\/[^\s/:@"'\\]{0,64}:([^\s/"'\\]{1,256})@/g,
  /[?&][A-Za-z0-9_-]{0,32}(?:key|token|secret|password|signature|sig|auth)=([^&\s"'\\#]{6,512})/gi,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}/g,
];

/** Everything in a text that looks like a secret. The spans may overlap. */
export function findShapes(text: string): Span[] {
  const spans: Span[] = [];
  for (const shape of SHAPES) findShape(text, shape, spans);
  return spans;
}

function findShape(text: string, shape: RegExp, spans: Span[]): void {
  for (const match of text.matchAll(shape)) {
    const [whole, secret] = match;
    // The secret is the last part of its pattern, except for the `@` after a password.
    const start = secret === undefined ? match.index : match.index + whole.lastIndexOf(secret);
    spans.push({ start, end: start + (secret ?? whole).length });
  }
}
