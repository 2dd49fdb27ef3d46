import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { createSecretMask, type SecretMask } from "./secret-mask.ts";
import { TextReader } from "./text-reader.ts";

const RUNS = fuzzRuns(300);

/** Encoded with Node's own encoders, not with ours. `before` and `after` are the text around the secret. */
const ENCODINGS: Readonly<Record<string, (secret: string, before: string, after: string) => string>> = {
  plain: (secret, before, after) => before + secret + after,
  json: (secret, before, after) => JSON.stringify({ [before]: after + secret }),
  "json in json": (secret, before, after) => JSON.stringify(JSON.stringify([before, secret, after])),
  "an address": (secret, before, after) => `https://x.test/?${before}=${encodeURIComponent(secret)}&${after}`,
  "a form": (secret, before, after) => new URLSearchParams([[before, secret + after]]).toString(),
  "lower-case percents": (secret) => encodeURIComponent(secret).replaceAll(/%../g, (part) => part.toLowerCase()),
  base64: (secret, before, after) => Buffer.from(before + secret + after).toString("base64"),
  base64url: (secret, before, after) => Buffer.from(before + secret + after).toString("base64url"),
  hex: (secret, before, after) => Buffer.from(before + secret + after).toString("hex"),
  "html, all entities": (secret) => markup(secret, "&quot;", "&#39;"),
  "html, numbers": (secret) => markup(secret, "&#34;", "&#x27;"),
  "html, text": (secret) => markup(secret, '"', "'"),
  xml: (secret) => markup(secret, "&quot;", "&apos;"),
  "json, numbers": (secret) => JSON.stringify(secret).replaceAll(/[<>&']/g, (unit) => numbered(unit)),
  "json, upper-case numbers": (secret) =>
    JSON.stringify(secret).replaceAll(/[<>&']/g, (unit) => numbered(unit).toUpperCase().replace("U", "u")),
  "upper-case hex": (secret) => Buffer.from(secret).toString("hex").toUpperCase(),
  "base64 in lines": (...parts) => lines(parts, "base64", 5, "\n"),
  "base64 in lines of Windows": (...parts) => lines(parts, "base64", 3, "\r\n"),
  "base64 in indented lines": (...parts) => lines(parts, "base64", 1, "\n\t    "),
  "base64url in lines": (...parts) => lines(parts, "base64url", 2, "\n"),
  "base64 in lines in json": (...parts) => JSON.stringify(lines(parts, "base64", 7, "\r\n  ")),
  "base64 in lines in json in json": (...parts) => JSON.stringify(JSON.stringify(lines(parts, "base64", 4, "\n"))),
  "base64 in lines in an address": (...parts) => encodeURIComponent(lines(parts, "base64", 6, "\r\n ")),
  "base64 with escaped slashes": (...parts) => lines(parts, "base64", 9, "\n").replaceAll("/", "\\/"),
  "hex in lines": (...parts) => lines(parts, "hex", 7, "\n"),
  "hex in lines in an address": (...parts) => lines(parts, "hex", 8, "%0a"),
  "hex with colons": (...parts) => lines(parts, "hex", 2, ":"),
  "hex with blanks, in lines": (...parts) => lines(parts, "hex", 2, " ").replaceAll(/.{12}/g, "$&\r\n    "),
  "hex with hyphens": (...parts) => lines(parts, "hex", 2, "-").toUpperCase(),
  "hex of C": (...parts) => lines(parts, "hex", 2, ", ").replaceAll(/\w\w/g, "0x$&"),
  "hex of a shell": (...parts) => lines(parts, "hex", 2, "").replaceAll(/\w\w/g, "\\x$&"),
  "hex of a shell in json": (...parts) => JSON.stringify(lines(parts, "hex", 2, "").replaceAll(/\w\w/g, "\\x$&")),
  "percents throughout": (...parts) => lines(parts, "hex", 2, "").replaceAll(/\w\w/g, "%$&"),
};

function lines(
  [secret, before, after]: readonly [string, string, string],
  encoding: "base64" | "base64url" | "hex",
  width: number,
  by: string,
): string {
  const text = Buffer.from(before + secret + after).toString(encoding);
  return (text.match(new RegExp(`.{1,${width}}`, "g")) ?? []).join(by);
}

function markup(text: string, double: string, single: string): string {
  const base = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return base.replaceAll('"', double).replaceAll("'", single);
}

function numbered(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function decodeMarkup(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replaceAll(/&(?:#x27|#39|#34|amp|lt|gt|quot|apos);/g, (entity) => {
    const name = entity.slice(1, -1);
    return named[name] ?? (name === "#34" ? '"' : "'");
  });
}

function decodeNumbers(text: string): string {
  return text.replaceAll(/\\u([0-9a-fA-F]{4})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Whether the secret can be read from a text, as it is or after decoding it. */
function reveals(text: string, secret: string): boolean {
  const unescape = (given: string): string => given.replaceAll("\\\\", "\\").replaceAll('\\"', '"');
  const undone = [text, unescape(text), unescape(decodeNumbers(text)), decodeAddress(text), decodeMarkup(text)];
  const unbroken = decodeAddress(text.replaceAll("+", "%2B")).replaceAll(/\\+[nrtx]|[\s:,\\]/g, "");
  const bytes = text.replaceAll(/\\+[nrtx]|%0[ad]|%20|0x|[\s:,%\\-]/gi, "");
  for (const word of [text, unbroken, bytes].flatMap((one) => one.match(/[A-Za-z0-9+/_-]{8,}/g) ?? [])) {
    for (let skip = 0; skip < 4; skip += 1) undone.push(Buffer.from(word.slice(skip), "base64").toString("utf8"));
    for (let skip = 0; skip < 2; skip += 1) undone.push(Buffer.from(word.slice(skip), "hex").toString("utf8"));
  }
  return undone.some((one) => one.includes(secret));
}

function decodeAddress(text: string): string {
  return text.replaceAll("+", " ").replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

// Blanks at the ends do not count, and what is left must be long enough to be a secret.
const secrets = fc
  .oneof(
    fc.stringMatching(/^[A-Za-z0-9_-]{4,60}[0-9][A-Za-z]{3}$/),
    fc.stringMatching(/^[!-~]{3,30}[0-9][!-~]{4,20}$/),
    fc.stringMatching(/^[a-zäöü€ ]{3,12}7[A-Za-zß/+= ]{3,12}x$/),
  )
  .filter((secret) => secret.trim().length >= 8);
const around = fc.string({ unit: "grapheme-ascii", maxLength: 9 });

function maskOf(...known: readonly string[]): SecretMask {
  const mask = createSecretMask(known);
  if (mask === undefined) throw new Error("no secret among them");
  return mask;
}

/** A text pushed in pieces of these sizes. */
function pushed(text: string, sizes: readonly number[], mask: SecretMask): readonly string[] {
  const stream = mask.stream();
  const shown: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    shown.push(stream.push(text.slice(at, at + size)));
    at += size;
  }
  return [...shown, stream.end()];
}

describe("F-A3 SEC16: a secret is masked in every encoding", () => {
  it("also inside an incomplete beginning of another one", () => {
    const mask = maskOf("prefix-hunter22-and-so-on-for-long", "hunter22-and");
    for (const text of ["prefix-hunter22-and!", "a prefix-hunter22-and-so-off"]) {
      expect(mask.text(text)).not.toContain("hunter22-and");
      expect(pushed(text, [1, 3], mask).join("")).not.toContain("hunter22-and");
    }
  });

  it.each(Object.entries(ENCODINGS))("in %s, whatever surrounds it", (_, encode) => {
    fc.assert(
      fc.property(secrets, around, around, (secret, before, after) => {
        const text = encode(secret, before, after);
        fc.pre(reveals(text, secret));
        const covered = maskOf(secret).text(text);
        expect(reveals(covered, secret)).toBe(false);
        expect(covered).toHaveLength(text.length);
        expect(maskOf(secret).text(covered)).toBe(covered);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["Gson", "cnry\\u003d4f9K2/mQ7+zX\\u00261\\u003d\\u003d"],
    [".NET", "cnry=4f9K2/mQ7\\u002BzX\\u00261=="],
    ["Go's templates", "cnry=4f9K2/mQ7&#43;zX&amp;1=="],
    ["Mustache", "cnry&#x3D;4f9K2&#x2F;mQ7+zX&amp;1&#x3D;&#x3D;"],
    ["Handlebars", "cnry&#x3D;4f9K2/mQ7+zX&amp;1&#x3D;&#x3D;"],
    ["Underscore", "cnry=4f9K2&#x2F;mQ7+zX&amp;1=="],
    ["an address in an address", "cnry%253D4f9K2%252FmQ7%252BzX%25261%253D%253D"],
  ])("as %s writes it", (_, written) => {
    const mask = maskOf("cnry=4f9K2/mQ7+zX&1==");
    expect(mask.text(`key ${written}.`)).toMatch(/^key cn?r?\*+\.$/);
    expect(pushed(`key ${written}.`, [1, 2], mask).join("")).toMatch(/^key cn?r?\*+\.$/);
  });

  it("keeps at most three characters of a long one, and none of a short one", () => {
    const mask = maskOf("sk-canary-0123456789abcdef", "pa55wd");
    expect(mask.text("with sk-canary-0123456789abcdef and pa55wd")).toBe(`with sk-${"*".repeat(23)} and ******`);
  });

  it("masks a secret that the end of a text has cut off, from half of it on", () => {
    const mask = maskOf("sk-canary-0123456789abcdef");
    expect(mask.text("… sk-canary-01234")).toBe(`… sk-${"*".repeat(12)}`);
    expect(mask.text("keys begin with sk-canary")).toBe("keys begin with sk-canary");
  });

  it.each(["offline", "test", "none", "test-key", "no-key", "EMPTY", "", "12345", "[hidden]", "********"])(
    "%j is an ordinary word, not a secret",
    (word) => {
      expect(createSecretMask([word])).toBeUndefined();
    },
  );

  it("the lines of a longer secret are secrets, too", () => {
    const mask = maskOf("-----BEGIN X-----\nQUJDREVGR0hJSg\nS0xNTk9QUVJTVA\n-----END X-----");
    expect(mask.text("found S0xNTk9QUVJTVA here")).toBe("found S************* here");
  });
});

describe("F-A3: a text that arrives in pieces", () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  const encodings = fc.constantFrom(...Object.values(ENCODINGS));

  it("joins to the masked whole text, wherever it is split", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(secrets, encodings, around), { minLength: 1, maxLength: 4 }),
        cuts,
        (parts, sizes) => {
          const text = parts.map(([secret, encode, said]) => said + encode(secret, said, said)).join(" ");
          const mask = maskOf(...parts.map(([secret]) => secret));
          expect(pushed(text, sizes, mask).join("")).toBe(mask.text(text));
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("one character at a time: no secret, and each piece is shown as soon as possible", () => {
    const mask = maskOf("sk-canary-0123456789abcdef");
    const shown = pushed("ask sk-canary-0123456789abcdef!", [1], mask);
    expect(shown.slice(0, 7)).toEqual(["a", "s", "k", " ", "s", "k", "-"]);
    expect(shown.slice(7, -3).join("")).toBe("");
    expect(shown.join("")).toBe(`ask sk-${"*".repeat(23)}!`);
  });

  it("pieces without the beginning of a secret pass unchanged, at once", () => {
    const mask = maskOf("sk-canary-0123456789abcdef");
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 12 })), (pieces) => {
        const stream = mask.stream();
        fc.pre(!pieces.join("").includes("sk-c"));
        for (const piece of pieces) expect(stream.push(piece)).toBe(piece);
        expect(stream.end()).toBe("");
      }),
      { numRuns: RUNS },
    );
  });

  it("a text that breaks off and continues shows no secret", () => {
    const secret = "sk-canary-0123456789abcdef";
    for (let cut = 1; cut < secret.length; cut += 1) {
      const stream = maskOf(secret).stream();
      const shown =
        stream.push(secret.slice(0, cut)) + stream.tear() + stream.push(`${secret.slice(cut)}.`) + stream.end();
      expect(shown).toHaveLength(secret.length + 1);
      expect(shown.replaceAll("*", "").length).toBeLessThanOrEqual(6);
    }
  });

  it("holds back no more than the longest secret, however long the text is", () => {
    const mask = maskOf(`sk-${"a".repeat(400)}`);
    const stream = mask.stream();
    let given = 0;
    let shown = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      given += 100;
      shown += stream.push("sk-".padEnd(100, "a")).length;
      expect(given - shown).toBeLessThanOrEqual(2 * 403);
    }
  });
});

describe("F-A3: values", () => {
  const secret = "sk-canary-0123456789abcdef";
  const mask = maskOf(secret);

  it("a value without a secret is the same object, at any depth", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(mask.value(value)).toBe(value);
      }),
      { numRuns: RUNS },
    );
  });

  it("texts, field names, lists, bytes and dates; the given value is not changed", () => {
    const bytes = new TextEncoder().encode(`"${secret}"`);
    const given = { [secret]: [{ deep: `x ${secret}` }], raw: { json: secret, bytes }, at: new Date(0), none: null };
    const copy = structuredClone(given);
    const covered = mask.value(given);
    expect(JSON.stringify(covered)).not.toContain(secret);
    expect(new TextDecoder().decode(covered.raw.bytes)).toBe(`"sk-${"*".repeat(23)}"`);
    expect(covered.at).toBe(given.at);
    expect(given).toEqual(copy);
  });

  it("an endless value is cut rather than shown", () => {
    const ring: { self?: unknown; secret: string } = { secret };
    ring.self = ring;
    expect(() => mask.value(ring)).not.toThrow();
  });
});

describe("F-B1: a large value that was prepared", () => {
  const key = "sk-canary-0123456789";
  const rowsOf = (length: number) => Array.from({ length }, (_, at) => ({ at, name: `row ${at}` }));
  const mask = createSecretMask([key]) as SecretMask;
  const prepare = async (value: unknown): Promise<number> => {
    let turns = 0;
    await mask.prepare(value, async () => void (turns += 1));
    return turns;
  };
  /** Counts how many members are read. */
  const watched = <Row>(rows: readonly Row[]) => {
    const seen = { reads: 0 };
    const list = new Proxy(rows, { get: (given, name) => ((seen.reads += 1), Reflect.get(given, name) as unknown) });
    return { list, seen };
  };

  it("is searched in several turns, and not again at once", async () => {
    const { list, seen } = watched(rowsOf(40_000));
    const value = { blocks: [{ input: { list } }] };
    expect(await prepare(value)).toBeGreaterThanOrEqual(5);
    seen.reads = 0;
    expect(mask.value(value)).toBe(value);
    expect(mask.value({ other: "item", input: value.blocks[0]?.input })).toEqual({ other: "item", input: { list } });
    expect(seen.reads).toBe(0);
    expect(await prepare({ list })).toBe(0);
  });

  it("is masked wherever it contains a secret, in names too, and next to large parts without one", async () => {
    const value = { clean: rowsOf(2000), rows: [...rowsOf(2000), { name: `a ${key}` }], [`x ${key}`]: rowsOf(1500) };
    await prepare(value);
    const shown = mask.value(value);
    expect(JSON.stringify(shown)).not.toContain(key);
    expect(shown.clean).toBe(value.clean);
    expect(shown.rows.slice(0, 2000)).toEqual(rowsOf(2000));
    expect(Object.keys(shown)).toHaveLength(3);
  });

  it("is hidden where it is too deep, and may contain itself", async () => {
    let deep: unknown = rowsOf(2000);
    for (let depth = 0; depth < 250; depth += 1) deep = [deep];
    const wide = { rows: rowsOf(2000), deep };
    await prepare(wide);
    expect(JSON.stringify(mask.value(wide))).toBe(JSON.stringify(createSecretMask([key])?.value(wide)));
    const self: { rows: unknown; self?: unknown } = { rows: rowsOf(2000) };
    self.self = self;
    await prepare(self);
    expect(mask.value(self).rows).toBe(self.rows);
  });

  it("is left unchanged if it is small", () => {
    expect(mask.prepare({ rows: rowsOf(100) }, () => Promise.reject(new Error("no turn is needed")))).toBeUndefined();
  });

  describe("with a long text", () => {
    const SECRET = "sk-canary-0123456789abcdef";
    const encoded = Buffer.from(SECRET).toString("base64");
    const LONG: Readonly<Record<string, string>> = {
      "without a secret": "A sentence.\n".repeat(40_000),
      "full of what a secret begins with": SECRET.slice(0, -1).repeat(10_000),
      "in base64 with line breaks": `${encoded.slice(0, 12)}\n`.repeat(20_000),
      "with a secret at the border of two pieces": `${"x".repeat(65_530)}${SECRET}${"y".repeat(300_000)}`,
      "with an encoded secret, in lines": `${"x".repeat(131_060)}\n${encoded.replaceAll(/.{9}/g, "$&\n")}${"-".repeat(200_000)}`,
      "that ends within a secret": "x".repeat(300_000) + SECRET.slice(0, 20),
    };
    /** How many characters are searched at most between two turns. */
    const mostAtOnce = async (work: (nextTurn: () => Promise<void>) => Promise<void>): Promise<number> => {
      let most = 0;
      let now = 0;
      const { read, takeClean } = TextReader.prototype;
      const count = (text: string): void => void (most = Math.max(most, (now += text.length)));
      TextReader.prototype.read = function (text) {
        count(text);
        return read.call(this, text);
      };
      TextReader.prototype.takeClean = function (text) {
        count(text);
        return takeClean.call(this, text);
      };
      try {
        await work(async () => void (now = 0));
      } finally {
        Object.assign(TextReader.prototype, { read, takeClean });
      }
      return most;
    };

    it.each(Object.keys(LONG))("%s: is searched piece by piece, and masked as if searched at once", async (name) => {
      const text = LONG[name] as string;
      const values: readonly unknown[] = [
        { blocks: [{ type: "text", text }] },
        { input: { [text]: [text, 1] } },
        // Two neighbouring blocks are read as one text.
        { blocks: [text.slice(0, 65_540), text.slice(65_540)].map((part) => ({ type: "text", text: part })) },
        { blocks: text.match(/[^]{1,30000}/g)?.map((part) => ({ type: "thinking", text: part })) },
      ];
      for (const [at, value] of values.entries()) {
        const own = createSecretMask([SECRET]) as SecretMask;
        let shown: unknown;
        const most = await mostAtOnce(async (nextTurn) => {
          await own.prepare(value, nextTurn);
          await nextTurn();
          shown = own.value(value);
          await nextTurn();
          // The result of a run repeats what was shown.
          if (at < 2) expect(own.value(shown)).toEqual(shown);
        });
        expect(most).toBeLessThan(200_000);
        expect(shown).toEqual(createSecretMask([SECRET])?.value(value));
      }
    });
  });
});
