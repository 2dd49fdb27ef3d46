/** Shorter values are not secrets: they would be found everywhere. */
const SHORTEST_SECRET = 6;
/** A single short word is not a secret either, whatever it is the value of: `offline`, `test-key`, `message`. */
const WORD = /^[A-Za-z_-]{1,11}$/;
/** A short number may be any number. */
const SHORT_NUMBER = /^[0-9]{1,7}$/;
/** What stands for a secret on a tape is not one itself. */
const COVERED = /^(?:\[hidden\]|\*+)$/;
/** Longer forms are looked for in parts, so that what a stream holds back stays small. */
const LONGEST_PART = 1024;
/** Values are encoded in stretches of this length: any of them may begin at any alignment. */
const LONGEST_STRETCH = 8192;

/**
 * The texts to look for so that a value is found in every form it travels in: as it is, escaped for JSON, encoded for an
 * address, in base64 and in hexadecimal. Empty for a value that is not a secret. Each line of a longer value is looked
 * for by itself.
 */
export function formsOf(value: string): readonly string[] {
  const forms = new Set<string>();
  for (const line of value.split(/[\r\n]+/)) {
    const part = line.trim();
    if (part.length < SHORTEST_SECRET || [WORD, SHORT_NUMBER, COVERED].some((no) => no.test(part))) continue;
    for (let start = 0; start < part.length; start += LONGEST_STRETCH) {
      for (const form of encodings(part.slice(start, start + LONGEST_STRETCH))) addParts(form, forms);
    }
  }
  return [...forms];
}

function addParts(form: string, forms: Set<string>): void {
  for (let start = 0; start < form.length; start += LONGEST_PART) {
    const piece = form.slice(start, start + LONGEST_PART);
    if (piece.length >= SHORTEST_SECRET) forms.add(piece);
  }
}

function encodings(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  return [text, ...jsonForms(text), ...addressForms(bytes), ...base64Forms(bytes), ...hexForms(bytes)];
}

/** JSON may also be ASCII only (Python), have its slashes escaped (PHP) or `<`, `>` and `&` (Go), and stand in JSON again. */
function jsonForms(text: string): readonly string[] {
  const escape = (given: string): string => JSON.stringify(given).slice(1, -1);
  const ascii = (given: string): string => given.replaceAll(/[\u0080-\uffff]/g, escapeUnit);
  const json = escape(text);
  const variants = [json, ascii(json), json.replaceAll("/", "\\/"), ascii(json.replaceAll(/[<>&]/g, escapeUnit))];
  return [...variants, ...variants.map(escape)];
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Which characters stay as they are differs: in a component, in a form, and for the strict. */
const UNESCAPED: readonly RegExp[] = [/[A-Za-z0-9\-_.!~*'()]/, /[A-Za-z0-9\-_.~]/, /[A-Za-z0-9\-_.*]/];

function addressForms(bytes: Uint8Array): readonly string[] {
  return UNESCAPED.flatMap((unescaped) => {
    const encode = (blank: string, isLower: boolean): string =>
      Array.from(bytes, (byte) => {
        const letter = String.fromCharCode(byte);
        if (unescaped.test(letter)) return letter;
        if (letter === " ") return blank;
        const digits = byte.toString(16).padStart(2, "0");
        return `%${isLower ? digits : digits.toUpperCase()}`;
      }).join("");
    return [encode("%20", false), encode("%20", true), encode("+", false), encode("+", true)];
  });
}

/**
 * What the value gives in base64 at each of the three places a byte can have in a group. The characters at both ends
 * that depend on the neighbours are left out.
 */
function base64Forms(bytes: Uint8Array): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = btoa("\0".repeat(offset) + asBinary(bytes));
    const form = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function hexForms(bytes: Uint8Array): readonly string[] {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex, hex.toUpperCase()];
}

/** One character per byte. `latin1` as a decoder is windows-1252, which has other characters between 0x80 and 0x9f. */
function asBinary(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
