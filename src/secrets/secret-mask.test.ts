import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretMask, type SecretMask } from "./secret-mask.ts";

const RUNS = Number(process.env["MILLRACE_FUZZ_RUNS"] ?? 300);

/** Written with Node's own encoders, not with ours. `before` and `after` are what stands around the secret. */
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
  "upper-case hex": (secret) => Buffer.from(secret).toString("hex").toUpperCase(),
};

/** The secret can be read from a text: as it is, or after undoing one of the encodings. */
function reveals(text: string, secret: string): boolean {
  const undone = [text, text.replaceAll("\\\\", "\\").replaceAll('\\"', '"'), decodeAddress(text)];
  for (const word of text.match(/[A-Za-z0-9+/_-]{8,}/g) ?? []) {
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

const secrets = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{4,60}[0-9][A-Za-z]{3}$/),
  fc.stringMatching(/^[!-~]{3,30}[0-9][!-~]{4,20}$/),
  fc.stringMatching(/^[a-zäöü€ ]{3,12}7[A-Za-zß/+= ]{3,12}x$/),
);
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

describe("F-A3 SEC16: a secret is covered in every form it travels in", () => {
  it("also inside the beginning of another one that does not go on", () => {
    const mask = maskOf("prefix-hunter22-and-so-on-for-long", "hunter22-and");
    for (const text of ["prefix-hunter22-and!", "a prefix-hunter22-and-so-off"]) {
      expect(mask.text(text)).not.toContain("hunter22-and");
      expect(pushed(text, [1, 3], mask).join("")).not.toContain("hunter22-and");
    }
  });

  it.each(Object.entries(ENCODINGS))("in %s, whatever stands around it", (_, encode) => {
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

  it("keeps at most three characters of a long one, and none of a short one", () => {
    const mask = maskOf("sk-canary-0123456789abcdef", "pa55wd");
    expect(mask.text("with sk-canary-0123456789abcdef and pa55wd")).toBe(`with sk-${"*".repeat(23)} and ******`);
  });

  it("covers what the end of a text has cut off, once it is half of the secret", () => {
    const mask = maskOf("sk-canary-0123456789abcdef");
    expect(mask.text("… sk-canary-01234")).toBe(`… sk-${"*".repeat(12)}`);
    expect(mask.text("keys begin with sk-canary")).toBe("keys begin with sk-canary");
  });

  it.each(["offline", "test", "none", "test-key", "no-key", "EMPTY", "", "12345", "[hidden]", "********"])(
    "%j is a word anybody may use, not a secret",
    (word) => {
      expect(createSecretMask([word])).toBeUndefined();
    },
  );

  it("the lines of a longer secret are secrets by themselves", () => {
    const mask = maskOf("-----BEGIN X-----\nQUJDREVGR0hJSg\nS0xNTk9QUVJTVA\n-----END X-----");
    expect(mask.text("found S0xNTk9QUVJTVA here")).toBe("found S************* here");
  });
});

describe("F-A3: a text that arrives in pieces", () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  const encodings = fc.constantFrom(...Object.values(ENCODINGS));

  it("joins to what the whole text is covered to, wherever it is cut", () => {
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

  it("one character at a time: no secret, and each piece is shown as soon as it can be", () => {
    const mask = maskOf("sk-canary-0123456789abcdef");
    const shown = pushed("ask sk-canary-0123456789abcdef!", [1], mask);
    expect(shown.slice(0, 7)).toEqual(["a", "s", "k", " ", "s", "k", "-"]);
    expect(shown.slice(7, -3).join("")).toBe("");
    expect(shown.join("")).toBe(`ask sk-${"*".repeat(23)}!`);
  });

  it("pieces without the beginning of a secret pass as they are, at once", () => {
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

  it("a text that is torn off and goes on all the same shows no secret", () => {
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

  it("a value without a secret is the very same, at any depth", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(mask.value(value)).toBe(value);
      }),
      { numRuns: RUNS },
    );
  });

  it("texts, names of fields, lists, bytes and dates; the value that was given stays as it is", () => {
    const bytes = new TextEncoder().encode(`"${secret}"`);
    const given = { [secret]: [{ deep: `x ${secret}` }], raw: { json: secret, bytes }, at: new Date(0), none: null };
    const copy = structuredClone(given);
    const covered = mask.value(given);
    expect(JSON.stringify(covered)).not.toContain(secret);
    expect(new TextDecoder().decode(covered.raw.bytes)).toBe(`"sk-${"*".repeat(23)}"`);
    expect(covered.at).toBe(given.at);
    expect(given).toEqual(copy);
  });

  it("a value without an end is cut off rather than shown", () => {
    const ring: { self?: unknown; secret: string } = { secret };
    ring.self = ring;
    expect(() => mask.value(ring)).not.toThrow();
  });
});
