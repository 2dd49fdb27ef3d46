import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "#testing";
import { createSessionFiles, isSessionSaved } from "./saved-session.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const LINES = ['{"said":"one"}\n', '{"said":"the key"}\n', '{"said":"three"}\n'];
const upTo = (count: number) => LINES.slice(0, count).join("");

async function savedAs(text: string): Promise<boolean> {
  const files = createMemoryFiles();
  await files.write("/work/file", encode(""));
  await files.write("/home/.claude/projects/-work/s1.jsonl", encode(text));
  return isSessionSaved("s1", {}, { files, env: { HOME: "/home" }, cwd: "/work" });
}

async function machine() {
  const files = createMemoryFiles();
  await files.write("/work/file", encode(""));
  const world = { files, env: { HOME: "/home" }, cwd: "/work" };
  return createSessionFiles({}, world, (text) => text.replaceAll("key", "***"));
}

describe("Runs that survive: the file of a session of Claude Code", () => {
  it("is laid out where it is missing, and read with its secrets masked", async () => {
    const sessions = await machine();
    expect(await sessions.read("s1", undefined)).toBeUndefined();
    await sessions.write("s1", encode(upTo(2)), undefined);
    expect(decode((await sessions.read("s1", undefined)) as Uint8Array)).toBe(upTo(2).replace("key", "***"));
  });

  it("replaces one that is behind, because the session went on on another machine in the meantime", async () => {
    const sessions = await machine();
    await sessions.write("s1", encode(upTo(1)), undefined);
    await sessions.write("s1", encode(upTo(3)), undefined);
    expect(decode((await sessions.read("s1", undefined)) as Uint8Array)).toBe(upTo(3).replace("key", "***"));
  });

  it("does not replace one that is as long or longer: it has what the stored one has, unmasked", async () => {
    const sessions = await machine();
    await sessions.write("s1", encode(upTo(3)), undefined);
    for (const count of [1, 3]) {
      await sessions.write("s1", encode(upTo(count).replaceAll("said", "SAID")), undefined);
      expect(decode((await sessions.read("s1", undefined)) as Uint8Array)).not.toContain("SAID");
    }
  });

  it("is only of use once it has a whole message: the CLI was killed before, and denies that it knows the session", async () => {
    const queued = '{"type":"queue-operation","operation":"enqueue","content":"user"}\n';
    const message = '{"type":"user","message":{"role":"user","content":"Go on."}}';
    for (const text of ["", queued, queued + queued, queued + message.slice(0, -1), "\n", `${message.slice(1)}\n`]) {
      expect(await savedAs(text), text).toBe(false);
    }
    for (const text of [queued + message, `${message}\n${queued}`, queued + message.replace("user", "assistant")]) {
      expect(await savedAs(text), text).toBe(true);
    }
  });
});
