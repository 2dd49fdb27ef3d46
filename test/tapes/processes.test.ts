import { describe, expect, it } from "vitest";
import type { ProcessExit, ProcessHandle, ProcessRequest, Spawn } from "#domain";
import { createScriptedSpawn, createSeededRandom, createVirtualClock, type SpawnScript } from "#testing";
import { createPlayer, createRecorder, createSpawn, openTape, systemClock, systemRandom } from "#transports";

/** Everything that is seen of a process, in the order in which it is seen. */
async function watch(
  spawn: Spawn,
  request: ProcessRequest,
  talk: (child: ProcessHandle, say: string[]) => Promise<void>,
) {
  const seen: string[] = [];
  const child = await spawn(request);
  const read = async (name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const piece of bytes) seen.push(`${name}:${new TextDecoder().decode(piece)}`);
    seen.push(`${name}-end`);
  };
  const [exit] = await Promise.all([
    child.exit.then((how: ProcessExit) => {
      seen.push("exit");
      return how;
    }),
    read("out", child.stdout),
    read("err", child.stderr),
    talk(child, seen),
  ]);
  return { seen, exit };
}

const say = (child: ProcessHandle, text: string): Promise<void> => child.write(new TextEncoder().encode(text));

function recordInto(lines: string[], seam: Spawn, clock = systemClock, random = systemRandom): [Spawn, () => unknown] {
  const recorder = createRecorder({ clock, random, write: (line) => lines.push(line) });
  return [recorder.spawn(seam), () => recorder.finish()];
}

const played = (lines: readonly string[], options = {}): Spawn =>
  createPlayer(openTape(new TextEncoder().encode(lines.join("")), { allowEdited: true }), options).spawn;

const DIALOGUE: SpawnScript = [
  { write: "hello\n" },
  { stderr: "noise\n" },
  { reply: (line) => `you said ${line}\n` },
  { reply: (line) => `and ${line}\n` },
  { waitForInput: "end" },
  { exit: 3 },
];
const talk = async (child: ProcessHandle): Promise<void> => {
  await say(child, "one\n");
  await say(child, "two\n");
  child.endInput();
};
const request: ProcessRequest = { executable: "/opt/x/agent", args: ["-p", "--json"], env: { PATH: "/bin" } };

describe("AT-66: a process on a tape", () => {
  it("a dialogue plays in the same order, with the same exit, and no number", async () => {
    const lines: string[] = [];
    const [spawn, finish] = recordInto(
      lines,
      createScriptedSpawn(DIALOGUE),
      createVirtualClock(),
      createSeededRandom(1),
    );
    const before = await watch(spawn, request, talk);
    finish();
    expect(before.exit).toEqual({ code: 3, signal: null });
    expect(await watch(played(lines), request, talk)).toEqual(before);
    expect((await played(lines)(request)).pid).toBeUndefined();
  });

  it("a real one too, without starting it", async () => {
    const lines: string[] = [];
    const [spawn, finish] = recordInto(lines, createSpawn());
    const program = `process.stdin.on("data", (d) => process.stdout.write("got " + d)); process.stdin.on("end", () => { process.stderr.write("bye"); process.exitCode = 7 });`;
    const real = { executable: process.execPath, args: ["-e", program], env: {} };
    const before = await watch(spawn, real, talk);
    finish();
    expect(before.exit).toEqual({ code: 7, signal: null });
    expect(before.seen.join("")).toContain("err:bye");
    const elsewhere = { ...real, executable: "/another/place/node" };
    expect(await watch(played(lines), elsewhere, talk)).toEqual(before);
  });

  it("one that does not exist, one that is killed, one that reads no more", async () => {
    const missing: string[] = [];
    const [none, over] = recordInto(missing, createSpawn());
    const nowhere = { executable: "/nowhere/claude", args: [], env: {} };
    await expect(none(nowhere)).rejects.toMatchObject({ code: "cli-not-found" });
    over();
    await expect(played(missing)(nowhere)).rejects.toMatchObject({
      name: "StartError",
      code: "cli-not-found",
      message: expect.stringContaining("/nowhere/claude was not found"),
    });

    const killed: string[] = [];
    const [spawn, finish] = recordInto(
      killed,
      createScriptedSpawn([{ closeInput: true }, { write: "x" }, { hang: true }]),
    );
    const interrupt = async (child: ProcessHandle, seen: string[]): Promise<void> => {
      await say(child, "early\n").catch((error: Error) => seen.push(`refused:${error.message}`));
      child.kill("SIGTERM");
    };
    const before = await watch(spawn, request, interrupt);
    finish();
    expect(before.exit).toEqual({ code: null, signal: "SIGTERM" });
    const again = await watch(played(killed), request, interrupt);
    expect([...again.seen].sort()).toEqual([...before.seen].sort());
    expect(again.exit).toEqual(before.exit);
  });

  it("another start or another text is reported with the entry and the difference", async () => {
    const lines: string[] = [];
    const [spawn, finish] = recordInto(lines, createScriptedSpawn(DIALOGUE));
    await watch(spawn, request, talk);
    finish();
    await expect(played(lines)({ ...request, args: ["-p", "--text"] })).rejects.toThrow(
      /at entry 1 \(spawn\), line 2 \(byte \d+\): the process .* is not started as it was: argument 2: at character 2/,
    );
    await expect(played(lines)({ ...request, args: ["-p"] })).rejects.toThrow(
      /there were 2 arguments, and now there are 1/,
    );
    await expect(played(lines)({ ...request, executable: "other" })).rejects.toThrow(
      /the executable was \/opt\/x\/agent/,
    );
    const child = await played(lines)(request);
    await expect(say(child, "three\n")).rejects.toThrow(
      /\(stdin\).* receives different input than was recorded: at character 0/,
    );
    await child.exit;
    const loose = await played(lines, { check: false })({ ...request, args: [] });
    await say(loose, "xxx\n");
  });

  it("input may come in other pieces", async () => {
    const lines: string[] = [];
    const [spawn, finish] = recordInto(lines, createScriptedSpawn(DIALOGUE));
    const before = await watch(spawn, request, talk);
    finish();
    const inLetters = async (child: ProcessHandle): Promise<void> => {
      for (const letter of "one\ntwo\n") await say(child, letter);
      child.endInput();
    };
    const again = await watch(played(lines), request, inLetters);
    expect(again.exit).toEqual(before.exit);
    expect(again.seen.filter((text) => text.startsWith("out:"))).toEqual(
      before.seen.filter((text) => text.startsWith("out:")),
    );
  });
});
