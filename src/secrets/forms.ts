/** Shorter values are not secrets: they would be found everywhere. */
const SHORTEST_SECRET = 6;
/** A single short word is not a secret either, even as the value of a key: `offline`, `test-key`, `message`. */
const WORD = /^[A-Za-z_-]{1,11}$/;
/** A short number may be any number. */
const SHORT_NUMBER = /^[0-9]{1,7}$/;
/** The placeholder for a secret on a tape is not a secret itself. */
const COVERED = /^(?:\[hidden\]|\*+)$/;
/** Longer forms are searched for in parts, so that a stream holds little back. */
const LONGEST_PART = 1024;
/** Values are encoded in pieces of this length; each may begin at any alignment. */
const LONGEST_STRETCH = 8192;

/** The texts to search for. */
export interface Forms {
  /** Found as they are. */
  readonly plain: readonly string[];
  /** Base64 and hexadecimal: only their digits, which are found with breaks between them. */
  readonly encoded: readonly string[];
}

/**
 * The texts to search for so that values are found in every form in which they may appear: as they are, escaped for JSON
 * or HTML, URL-encoded, in base64 and in hexadecimal. Empty for values that are not secrets. Each line of a multi-line
 * value is searched for separately.
 */
export function formsOf(values: Iterable<string>): Forms {
  const plain = new Set<string>();
  const encoded = new Set<string>();
  for (const value of values) addForms(value, plain, encoded);
  return { plain: [...plain], encoded: [...encoded] };
}

function addForms(value: string, plain: Set<string>, encoded: Set<string>): void {
  for (const line of value.split(/[\r\n]+/)) {
    const part = line.trim();
    if (part.length < SHORTEST_SECRET || [WORD, SHORT_NUMBER, COVERED].some((no) => no.test(part))) continue;
    for (let start = 0; start < part.length; start += LONGEST_STRETCH) {
      const text = part.slice(start, start + LONGEST_STRETCH);
      const bytes = new TextEncoder().encode(text);
      for (const form of plainForms(text, bytes)) addParts(form, plain);
      for (const form of [...base64Forms(bytes), ...hexForms(bytes)]) addParts(form, encoded);
    }
  }
}

function addParts(form: string, forms: Set<string>): void {
  for (let start = 0; start < form.length; start += LONGEST_PART) {
    const piece = form.slice(start, start + LONGEST_PART);
    if (piece.length >= SHORTEST_SECRET) forms.add(piece);
  }
}

function plainForms(text: string, bytes: Uint8Array): readonly string[] {
  return [text, ...jsonForms(text), ...markupForms(text), ...addressForms(bytes)];
}

/**
 * What is written as `\uXXXX`: everything beyond ASCII (Python), what has a meaning in HTML (Go), all quotation marks
 * (PHP), equals signs (Gson), plus signs and backticks (.NET).
 */
const AS_NUMBERS: readonly RegExp[] = [
  /[\u0080-\uffff]/,
  /[<>&\u0080-\uffff]/,
  /[<>&'\u0080-\uffff]/,
  /[<>&'"\u0080-\uffff]/,
  /[<>&'=]/,
  /[<>&'"+`\u007f-\uffff]/,
];

/** JSON may also escape its slashes (PHP), and be nested in JSON again. */
function jsonForms(text: string): readonly string[] {
  const escape = (given: string): string => JSON.stringify(given).slice(1, -1);
  const json = escape(text);
  const numbered = AS_NUMBERS.flatMap((units) =>
    [false, true].map((isUpper) =>
      text.replaceAll(/[\s\S]/g, (unit) => (units.test(unit) ? escapeUnit(unit, isUpper) : escape(unit))),
    ),
  );
  const variants = [json, json.replaceAll("/", "\\/"), ...numbered];
  return [...variants, ...variants.map(escape)];
}

function escapeUnit(unit: string, isUpper: boolean): string {
  const digits = unit.charCodeAt(0).toString(16).padStart(4, "0");
  return `\\u${isUpper ? digits.toUpperCase() : digits}`;
}

/** Templates also write these as entities: Go the plus sign; Mustache and Handlebars the others, Underscore without `=`. */
const MARKUP_SIGNS: readonly Readonly<Record<string, string>>[] = [
  {},
  { "+": "&#43;" },
  { "/": "&#x2F;", "`": "&#x60;" },
  { "/": "&#x2F;", "`": "&#x60;", "=": "&#x3D;" },
  { "`": "&#x60;", "=": "&#x3D;" },
];

/** In HTML and XML `&`, `<` and `>` are entities, quotation marks may be, under one of several names. */
function markupForms(text: string): readonly string[] {
  const base: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  return MARKUP_SIGNS.flatMap((signs) =>
    ['"', "&quot;", "&#34;"].flatMap((double) =>
      ["'", "&#39;", "&#x27;", "&#039;", "&apos;"].map((single) => {
        const entities: Readonly<Record<string, string>> = { ...base, ...signs, '"': double, "'": single };
        return text.replaceAll(/[&<>"'+/`=]/g, (sign) => entities[sign] ?? sign);
      }),
    ),
  );
}

/** The characters that stay unescaped differ: in a URI component, by RFC 3986, and in a form. */
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
    const once = [encode("%20", false), encode("%20", true), encode("+", false), encode("+", true)];
    // An address that is a parameter of another one is encoded again.
    return [...once, ...once.map((text) => text.replaceAll("%", "%25").replaceAll("+", "%2B"))];
  });
}

/**
 * The base64 text of the value at each of the three alignments, also in a URL, where `+` is `%2B` and `%` is a break. The
 * characters at both ends that depend on neighbouring bytes are left out.
 */
function base64Forms(bytes: Uint8Array): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = btoa("\0".repeat(offset) + asBinary(bytes));
    const form = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    const write = (plus: string, slash: string): string => form.replaceAll("+", plus).replaceAll("/", slash);
    return [form, write("-", "_"), write("2B", "2F"), write("2b", "2f")];
  });
}

/**
 * Hexadecimal, as it is and where a separator consists of digits of base64: `61-62` and `0x61, 0x62`. In `%61%20%62` the
 * blank is a break.
 */
function hexForms(bytes: Uint8Array): readonly string[] {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
  const visible = pairs.filter((pair) => pair !== "20" && pair !== "09");
  return [pairs.join(""), visible.join(""), pairs.join("-"), `0x${pairs.join("0x")}`].flatMap((hex) => [
    hex,
    hex.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase()),
  ]);
}

/** One character per byte. The `latin1` decoder is windows-1252, which has other characters between 0x80 and 0x9f. */
function asBinary(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
