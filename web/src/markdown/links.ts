/** The allowed target of a link: a web or mail address. `undefined` for everything else. */
export function safeLink(href: string): string | undefined {
  // Browsers drop control characters and blanks when they parse an address, so they must not be part of one.
  if (/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\\]/.test(href)) return undefined;
  if (!URL.canParse(href)) return undefined;
  const { protocol, href: full } = new URL(href);
  return protocol === "https:" || protocol === "http:" || protocol === "mailto:" ? full : undefined;
}

const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: "\u00a0",
    ndash: "–",
    mdash: "—",
    hellip: "…",
    copy: "©",
    reg: "®",
    trade: "™",
    times: "×",
    divide: "÷",
    deg: "°",
    euro: "€",
    pound: "£",
    larr: "←",
    rarr: "→",
    uarr: "↑",
    darr: "↓",
    le: "≤",
    ge: "≥",
    ne: "≠",
    bull: "•",
    middot: "·",
    laquo: "«",
    raquo: "»",
  }),
);

/** Decodes `&amp;` and similar entities. The result is used as text, never as HTML. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, ten, sixteen, name) => {
    if (name !== undefined) return NAMED.get(String(name)) ?? whole;
    const code = ten === undefined ? Number.parseInt(String(sixteen), 16) : Number(ten);
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    return code === 0 || code > 0x10ffff || isSurrogate ? "\ufffd" : String.fromCodePoint(code);
  });
}
