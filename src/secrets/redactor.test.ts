import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { createRedactor } from "./redactor.ts";

const RUNS = fuzzRuns(400);
const ENV = {
  PAYMENT_KEY: "p4yment-Key/1+x=",
  DATABASE_URL: "postgres://me:hunter2%21@db.test/x",
  LONG_SECRET: "s3cret-".repeat(200),
  PEM_KEY: "-----BEGIN X-----\nQUJDREVGR0hJ\nS0xNTk9QUVJT\n-----END X-----",
  QUOTED_TOKEN: 'to"ken\\with"quotes9',
  SSH_AUTH_SOCK: "/run/ssh/agent.sock",
  MODE_KEY: "message",
  HOME: "/home/somebody",
};
const redactor = createRedactor(ENV);

describe("SEC16 I11: what a tape never contains", () => {
  it.each([
    ["an Anthropic key", "x sk-ant-api03-abcdefghij_KLMNOP-123 y", "sk-ant"],
    ["an OpenAI key", "key sk-proj-abcdefghijklmnop1234.", "sk-proj"],
    ["a Google key", '{"k":"AIzaSyA1234567890abcdefghijklmnopqrstuv"}', "AIza"],
    ["a signed token", "t=eyJhbGciOiJI.eyJzdWIiOiIx.abc-DEF_123", "eyJ"],
    ["a bearer", "Authorization: Bearer abc123def", "abc123def"],
    ["a token of a code host", "ghp_abcdefghijklmnopqrst", "ghp_"],
    ["a chat token", "xoxb-123456789012-abc", "xoxb"],
    ["a cloud key", "AKIAABCDEFGHIJKLMNOP", "AKIA"],
    ["a long hex number behind a name", "api_key = 0123456789abcdef0123456789abcdef", "0123456789abcdef"],
    ["the same in JSON in JSON", '{\\"apiKey\\": \\"ABCDEFGHIJKLMNOP0123\\"}', "ABCDEFGHIJKLMNOP"],
    ["a password", '{"password": "hunter22"}', "hunter22"],
    ["a password in an address", "https://me:pa55w0rd@host/x", "pa55w0rd"],
    ["a key in an address", "https://host/x?alt=sse&key=abcdef123456", "abcdef123456"],
    ["a private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\nAAKC\n-----END RSA PRIVATE KEY-----", "MIIE"],
    ["a variable's value", `it is ${ENV.PAYMENT_KEY}!`, "p4yment"],
    ["the same in an address", encodeURIComponent(ENV.PAYMENT_KEY), "p4yment"],
    ["the same in base64", btoa(`${ENV.PAYMENT_KEY}xy`), btoa(ENV.PAYMENT_KEY.slice(0, 15))],
    ["the same in JSON", JSON.stringify({ a: ENV.QUOTED_TOKEN }), "ken"],
    ["the password of an address", "login with hunter2! now", "hunter2!"],
    ["a line of a longer secret", "found S0xNTk9QUVJT here", "S0xNTk9QUVJT"],
    ["a very long secret", `<${ENV.LONG_SECRET}>`, "s3cret-s3cret"],
  ])("%s", (_, text, secret) => {
    expect(text).toContain(secret);
    const covered = redactor.text(text);
    expect(covered).not.toContain(secret);
    expect(covered).toHaveLength(text.length);
    expect(redactor.text(covered)).toBe(covered);
  });

  it.each([
    "A task-specific question about sk-learn and the desk-bound clerk.",
    '{"type":"message","max_tokens":8192,"usage":{"input_tokens":1234567890123456}}',
    "the token is short; a secret: no",
    "Bearer of bad news, basic understanding",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAIzaAAABCAYAAAAfFcSJAAAADUlEQVR42mNk/sk-eyJ",
    "/run/ssh/agent.sock and /home/somebody",
    "https://host.test/path?model=gpt-5&alt=sse",
  ])("does not change %j", (text) => {
    expect(redactor.text(text)).toBe(text);
  });

  it("headers by name, and their values everywhere after that", () => {
    const own = createRedactor();
    expect(
      own.headers({
        Authorization: "Bearer w0rd-of-mine",
        "x-api-key": "k",
        "x-goog-api-key": "g00gle-key",
        cookie: "a=1",
        "anthropic-version": "2023-06-01",
        "x-ratelimit-remaining-tokens": "12",
      }),
    ).toEqual({
      Authorization: "[hidden]",
      "x-api-key": "[hidden]",
      "x-goog-api-key": "[hidden]",
      cookie: "[hidden]",
      "anthropic-version": "2023-06-01",
      "x-ratelimit-remaining-tokens": "12",
    });
    expect(own.text("You sent w0rd-of-mine and g00gle-key.")).toBe("You sent ************ and **********.");
  });

  it("arguments by the flag before them", () => {
    const args = [
      "--api-key",
      "short",
      "--token=t",
      "--model",
      "gpt-5",
      "--auth",
      "--key",
      "x",
      "-p",
      "sk-ant-0123456789abcdef",
    ];
    expect(redactor.args(args)).toEqual([
      "--api-key",
      "[hidden]",
      "--token=[hidden]",
      "--model",
      "gpt-5",
      "--auth",
      "--key",
      "[hidden]",
      "-p",
      "*".repeat(23),
    ]);
  });

  it("a value that is JSON stays JSON, with or without a secret", () => {
    expect(redactor.json({ a: [ENV.QUOTED_TOKEN, 5, null], token: "abcdefghij0123456789" })).toEqual({
      a: [expect.stringMatching(/^\*+$/), 5, null],
      token: "*".repeat(20),
    });
    expect(redactor.json(undefined)).toBeUndefined();
  });

  it("SEC13: takes linear time on adversarial input", () => {
    for (const part of [
      "sk-",
      "eyJ",
      "token",
      "token\\\\\\\\",
      "://",
      "bearer ",
      "?key",
      "-----BEGIN ",
      "a:",
      "password=",
    ]) {
      const text = part.repeat(Math.ceil(1_000_000 / part.length));
      expect(redactor.text(text)).toHaveLength(text.length);
    }
  });
});

const LINES = (
  Buffer.from(`me:${ENV.PAYMENT_KEY}!`)
    .toString("base64")
    .match(/.{1,5}/g) ?? []
).join("\n  ");

const SECRETS = [
  LINES,
  LINES.replaceAll("\n", "\r\n"),
  Buffer.from(ENV.PAYMENT_KEY).toString("hex").replaceAll(/.{6}/g, "$&\n"),
  "sk-ant-api03-abcdefghij_KLMNOP-123",
  "AIzaSyA1234567890abcdefghijklmnopqrstuv",
  "eyJhbGciOiJI.eyJzdWIiOiIx.abc-DEF_123",
  'Bearer abc123def456"',
  '"api_key": "0123456789abcdef0123456789abcdef"',
  "https://me:pa55w0rd@host/x?key=abcdef123456&y",
  "-----BEGIN PRIVATE KEY-----\nMIIEpAIB\nAAKC\n-----END PRIVATE KEY-----",
  ENV.PAYMENT_KEY,
  ENV.LONG_SECRET,
  "hunter2!",
];

describe("SEC16: a stream is masked wherever it is split", () => {
  const parts = fc.array(
    fc.oneof(
      fc.constantFrom(...SECRETS, ' "', "\n", "data: ", "grüße ", "a b c ", "x".repeat(600), "{}", "\\n"),
      fc.string({ maxLength: 20 }),
    ),
    { maxLength: 12 },
  );

  it("with the same bytes as in one piece, and none of the secrets", () => {
    fc.assert(
      fc.property(parts, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 20 }), (texts, cuts) => {
        const bytes = new TextEncoder().encode(texts.join(" "));
        const whole = redactor.stream();
        const one = whole.push(bytes);
        whole.settle(true);
        const mask = redactor.stream();
        const pieces = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = cuts[turn % cuts.length] as number;
          pieces.push(mask.push(bytes.subarray(at, at + size)));
          at += size;
        }
        mask.settle(true);
        expect(pieces.every(({ isSettled }) => isSettled)).toBe(true);
        const joined = new Uint8Array(pieces.flatMap((piece) => [...piece.bytes]));
        expect(new TextDecoder().decode(joined)).toBe(new TextDecoder().decode(one.bytes));
        const text = new TextDecoder().decode(joined);
        for (const secret of [ENV.PAYMENT_KEY, "MIIEpAIB", "pa55w0rd", "s3cret-s3cret-"])
          expect(text).not.toContain(secret);
      }),
      { numRuns: RUNS },
    );
  });

  it.each(SECRETS.slice(0, 3))("F-A3: base64 and hexadecimal that are broken over lines: %j", (secret) => {
    const bytes = new TextEncoder().encode(`a ${secret}\nb`);
    for (let size = 1; size < bytes.length; size += 1) {
      const mask = redactor.stream();
      const pieces = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(mask.push(bytes.subarray(at, at + size)));
      mask.settle(true);
      const text = new TextDecoder().decode(new Uint8Array(pieces.flatMap((piece) => [...piece.bytes])));
      expect(text.replaceAll(/[^\s*]/g, "").length).toBeGreaterThan(20);
      expect(text.replaceAll(/[\s*]/g, "").length).toBeLessThanOrEqual(11);
      expect(text.replaceAll(/\S/g, "")).toBe(`a ${secret}\nb`.replaceAll(/\S/g, ""));
    }
  });

  it("F-A3: shows nothing of it when it must be written early", () => {
    const mask = redactor.stream();
    const [first = "", ...rest] = (SECRETS[2] as string).split(/(?<=\n)/);
    const before = mask.push(new TextEncoder().encode(first));
    mask.settle(false);
    const after = mask.push(new TextEncoder().encode(`${rest.join("")} end`));
    mask.settle(true);
    const decoder = new TextDecoder();
    expect(decoder.decode(before.bytes)).toBe("******\n");
    expect(decoder.decode(after.bytes)).toMatch(/^[*\n]+ end$/);
  });

  it("does not change its input, and completes a line at its end", () => {
    const mask = redactor.stream();
    const given = new TextEncoder().encode("data: sk-ant-api03-abcdefghij\n\n");
    const copy = given.slice();
    const piece = mask.push(given);
    expect(piece.isSettled).toBe(true);
    expect(given).toEqual(copy);
    expect(new TextDecoder().decode(piece.bytes)).toBe(`data: ${"*".repeat(23)}\n\n`);
  });

  it("what must be written early is masked too much rather than too little", () => {
    const mask = redactor.stream();
    const first = mask.push(new TextEncoder().encode("here: p4yment"));
    expect(first.isSettled).toBe(false);
    mask.settle(false);
    expect(first.isSettled).toBe(true);
    const second = mask.push(new TextEncoder().encode("-Key/1+x= and on\n"));
    const text = new TextDecoder();
    expect([text.decode(first.bytes), text.decode(second.bytes)]).toEqual(["here: *******", "********* and on\n"]);
  });

  it("holds back a bounded tail of a line without an end", () => {
    const mask = redactor.stream();
    const pieces = Array.from({ length: 40 }, () => mask.push(new Uint8Array(65_536).fill(0x41)));
    expect(pieces.slice(0, -1).every(({ isSettled }) => isSettled)).toBe(true);
  });
});
