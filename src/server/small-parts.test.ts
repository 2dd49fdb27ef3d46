import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { readLimits } from "./limits.ts";
import { hostName, isLoopback } from "./origin-check.ts";
import { readPage } from "./page.ts";
import { createRateLimit } from "./rate-limit.ts";
import { createSecretMask } from "#secrets";
import { createServerLog, type LogRecord, logLine } from "./server-log.ts";
import { readCursor } from "./sse-vocabulary.ts";

describe("readCursor", () => {
  it.each([
    ["-1", { seq: -1, frames: undefined }],
    ["0", { seq: 0, frames: undefined }],
    ["12.3", { seq: 12, frames: 3 }],
    ["", undefined],
    ["-2", undefined],
    ["1.", undefined],
    ["1.2.3", undefined],
    ["1e3", undefined],
    [" 1", undefined],
    ["1\n", undefined],
    ["9".repeat(16), undefined],
    ["٣", undefined],
  ])("%j", (text, expected) => {
    expect(readCursor(text)).toEqual(expected);
  });
});

describe("hostName and isLoopback", () => {
  it.each([
    ["localhost", true],
    ["LOCALHOST:80", true],
    ["127.0.0.1:4000", true],
    ["127.9.9.9", true],
    ["[::1]:80", true],
    ["127.0.0.1.evil.example", false],
    ["localhost.evil.example", false],
    ["0.0.0.0", false],
    ["[::]", false],
    ["127.1", false],
    ["2130706433", false],
  ])("%s: %s", (host, expected) => {
    expect(isLoopback(hostName(host) ?? "")).toBe(expected);
  });

  it.each(["", "a b", "a@b", "a/b", "http://a", "[::1", "a:b", "a:123456", "é.example"])("%j is not a host", (host) => {
    expect(hostName(host)).toBeUndefined();
  });
});

describe("createRateLimit", () => {
  it("counts each address separately, forgets after a minute, and its size is bounded", () => {
    let now = 0;
    const limit = createRateLimit(2, () => now);
    expect([limit.take("a"), limit.take("a"), limit.take("a"), limit.take("b")]).toEqual([true, true, false, true]);
    now = 60_000;
    expect(limit.take("a")).toBe(true);
    for (let at = 0; at < 30_000; at += 1) limit.take(`address-${at}`);
    expect(limit.take("address-29999")).toBe(true);
  });

  it("R11: a clock that is set back locks no client out", () => {
    let now = 3_600_000;
    const limit = createRateLimit(1, () => now);
    expect([limit.take("a"), limit.take("a")]).toEqual([true, false]);
    now = 0;
    expect(limit.take("a")).toBe(true);
  });
});

describe("createServerLog", () => {
  it("SEC16: no secret appears in a line, and a listener that fails affects nothing", async () => {
    const records: LogRecord[] = [];
    const told: unknown[] = [];
    const write = createServerLog(
      (record) => {
        records.push(record);
        throw new Error("the disk is full");
      },
      createSecretMask(["secret-token", "secret-token-longer", "ab"]),
      () => 0,
      (error) => told.push(error),
    );
    write("info", "request", { message: "with secret-token-longer and secret-token, about", status: 200 });
    expect(logLine(records[0] as LogRecord)).toBe(
      '{"ts":"1970-01-01T00:00:00.000Z","level":"info","event":"request","message":"with s****************** and s***********, about","status":200}\n',
    );
    write("info", "request", { nested: { header: "Bearer secret-token" } });
    expect(logLine(records[1] as LogRecord)).not.toContain("secret-token");
    // Once: a full disk fails with every line.
    expect(told).toEqual([new Error("the disk is full")]);
    const rejecting = (async () => Promise.reject(new Error("the host is down"))) as unknown as () => void;
    const writeFar = createServerLog(
      rejecting,
      undefined,
      () => 0,
      (error) => told.push(error),
    );
    writeFar("info", "request");
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toContainEqual(new Error("the host is down"));
  });
});

describe("readLimits", () => {
  it("fills in defaults, and rejects a limit without effect", () => {
    expect(readLimits({ streams: 5 })).toMatchObject({ streams: 5, bodyBytes: 1_048_576, stallMs: 30_000 });
    expect(() => readLimits({ streams: Number.NaN })).toThrow(/limits\.streams/);
    expect(() => readLimits({ stream: 5 } as never)).toThrow(/no limits\.stream\. Did you mean streams/);
  });
});

describe("readPage", () => {
  const root = temporaryFolder("page");

  it("SEC14: serves what was in the folder, and not the target of a link", () => {
    const page = join(root, "web");
    mkdirSync(join(page, "assets"), { recursive: true });
    writeFileSync(join(page, "index.html"), "<!doctype html>");
    writeFileSync(join(page, "assets", "app.js"), "1");
    writeFileSync(join(page, "assets", "notes.md"), "not for the web");
    writeFileSync(join(root, "secret.txt"), "secret");
    symlinkSync(join(root, "secret.txt"), join(page, "assets", "link.txt"));
    expect([...(readPage(page)?.keys() ?? [])].sort()).toEqual(["/", "/assets/app.js", "/index.html"]);
    expect(readPage(join(root, "nowhere"))).toBeUndefined();
    expect(readPage(false)).toBeUndefined();
  });
});
