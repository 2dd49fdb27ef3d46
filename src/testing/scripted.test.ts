import { describe, expect, it } from "vitest";
import type { ProcessHandle } from "#domain";
import { createScriptedFetch } from "./scripted-fetch.ts";
import { createScriptedSpawn } from "./scripted-spawn.ts";
import { createVirtualClock } from "./virtual-clock.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const request = { executable: "claude", args: ["-p", "hi"], env: { A: "1" } };

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stream) text += decoder.decode(piece, { stream: true });
  return text;
}

async function finish(handle: ProcessHandle) {
  const [stdout, stderr, exit] = await Promise.all([textOf(handle.stdout), textOf(handle.stderr), handle.exit]);
  return { stdout, stderr, ...exit };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createScriptedSpawn", () => {
  it("plays its steps and records the input of the process", async () => {
    const spawn = createScriptedSpawn([{ write: "out" }, { stderr: encode("err") }, { exit: 3 }]);
    const handle = await spawn(request);
    expect(await finish(handle)).toEqual({ stdout: "out", stderr: "err", code: 3, signal: null });
    expect(spawn.calls).toHaveLength(1);
    expect(spawn.calls[0]).toMatchObject({ ...request, stdin: "", inputEnded: false, signals: [], isGone: true });
  });

  it("exits with 0 after its last step", async () => {
    expect(await finish(await createScriptedSpawn([])(request))).toMatchObject({ code: 0, signal: null });
  });

  it("waits for lines of input, answers them, and waits for the end", async () => {
    const spawn = createScriptedSpawn([
      { waitForInput: "line" },
      { write: "ready\n" },
      { reply: (line) => `got ${line}\n` },
      { waitForInput: "end" },
      { exit: 0 },
    ]);
    const handle = await spawn(request);
    const reader = handle.stdout[Symbol.asyncIterator]();
    await handle.write(encode("he"));
    await handle.write(encode("llo\nsecond\nrest"));
    expect(new TextDecoder().decode((await reader.next()).value as Uint8Array)).toBe("ready\n");
    expect(new TextDecoder().decode((await reader.next()).value as Uint8Array)).toBe("got second\n");
    await turn();
    expect(spawn.calls[0]?.isGone).toBe(false);
    handle.endInput();
    expect(await handle.exit).toEqual({ code: 0, signal: null });
    expect(spawn.calls[0]).toMatchObject({ stdin: "hello\nsecond\nrest", inputEnded: true });
  });

  it("is killed in the middle of anything, and the signals are recorded", async () => {
    for (const step of [{ hang: true }, { waitForInput: "line" }, { write: "x".repeat(200_000) }] as const) {
      const spawn = createScriptedSpawn([step, { exit: 0 }]);
      const handle = await spawn(request);
      await turn();
      handle.kill("SIGTERM");
      expect(await handle.exit).toEqual({ code: null, signal: "SIGTERM" });
      handle.kill("SIGKILL");
      expect(spawn.calls[0]?.signals).toEqual(["SIGTERM"]);
    }
  });

  it("ignores the configured signals, but not SIGKILL", async () => {
    const spawn = createScriptedSpawn([{ ignore: ["SIGINT", "SIGTERM"] }, { hang: true }]);
    const handle = await spawn(request);
    await turn();
    handle.kill("SIGINT");
    handle.kill("SIGTERM");
    await turn();
    expect(spawn.calls[0]?.isGone).toBe(false);
    handle.kill("SIGKILL");
    expect(await handle.exit).toEqual({ code: null, signal: "SIGKILL" });
    expect(spawn.calls[0]?.signals).toEqual(["SIGINT", "SIGTERM", "SIGKILL"]);
  });

  it("dies by its own signal, and gives its earlier output to a late reader", async () => {
    const handle = await createScriptedSpawn([{ write: "half" }, { exit: "SIGSEGV" }])(request);
    expect(await handle.exit).toEqual({ code: null, signal: "SIGSEGV" });
    expect(await textOf(handle.stdout)).toBe("half");
  });

  it("rejects input after it has exited, or has closed it", async () => {
    const handle = await createScriptedSpawn([{ closeInput: true }, { hang: true }])(request);
    await turn();
    await expect(handle.write(encode("x"))).rejects.toThrow("EPIPE");
    handle.kill("SIGKILL");
    await handle.exit;
    await expect(handle.write(encode("x"))).rejects.toThrow("EPIPE");
  });

  it("is slowed down by a reader that does not read", async () => {
    const spawn = createScriptedSpawn([{ write: "x".repeat(70_000) }, { write: "y" }, { exit: 0 }]);
    const handle = await spawn(request);
    await turn();
    expect(spawn.calls[0]?.isGone).toBe(false);
    expect(await textOf(handle.stdout)).toHaveLength(70_001);
  });

  it("continues when its reader has left", async () => {
    const handle = await createScriptedSpawn([
      { write: "x" },
      { write: "y" },
      { waitForInput: "line" },
      { write: "z" },
    ])(request);
    for await (const _ of handle.stdout) break;
    await handle.write(encode("go\n"));
    expect(await handle.exit).toEqual({ code: 0, signal: null });
  });

  it("waits on the clock it is given, and reports that there is none", async () => {
    const clock = createVirtualClock();
    const spawn = createScriptedSpawn([{ waitMs: 50 }, { write: "later" }], { clock });
    const done = finish(await spawn(request));
    await clock.advance(49);
    expect(spawn.calls[0]?.isGone).toBe(false);
    await clock.advance(1);
    expect((await done).stdout).toBe("later");
    await expect(finish(await createScriptedSpawn([{ waitMs: 1 }])(request))).rejects.toThrow("needs a clock");
  });

  it("creates the script from the request, and may refuse to start", async () => {
    const spawn = createScriptedSpawn(({ args }, call) => {
      if (call === 1) throw new Error("no such executable");
      return [{ write: `${args.join(" ")} ${call}` }];
    });
    expect((await finish(await spawn(request))).stdout).toBe("-p hi 0");
    await spawn(request).then(
      () => expect.fail("started"),
      (error: Error) => expect(error.message).toBe("no such executable"),
    );
  });
});

describe("createScriptedFetch", () => {
  const ask = { method: "POST", url: "http://host/v1", headers: { "x-api-key": "k" }, body: '{"a":1}' } as const;

  it("answers from its replies in order, and records the requests", async () => {
    const fetch = createScriptedFetch([
      { status: 429, headers: { "retry-after": "1" } },
      { body: ["da", encode("ta")] },
    ]);
    const first = await fetch(ask);
    expect([first.status, first.headers, await textOf(first.body)]).toEqual([429, { "retry-after": "1" }, ""]);
    const second = await fetch({ ...ask, body: encode("bytes") });
    expect([second.status, await textOf(second.body)]).toEqual([200, "data"]);
    await expect(fetch(ask)).rejects.toThrow("no reply for request 3");
    expect(fetch.requests.map(({ body }) => body)).toEqual(['{"a":1}', "bytes", '{"a":1}']);
    expect(fetch.requests[0]).toEqual(ask);
  });

  it("breaks at the configured position, or never connects", async () => {
    const fetch = createScriptedFetch([
      { body: ["half", { break: new Error("reset") }] },
      { fail: new Error("refused") },
    ]);
    const { body } = await fetch(ask);
    const reader = body[Symbol.asyncIterator]();
    expect((await reader.next()).done).toBe(false);
    await expect(reader.next()).rejects.toThrow("reset");
    await expect(fetch(ask)).rejects.toThrow("refused");
  });

  it("stalls until it is aborted, before the answer and inside it", async () => {
    const reason = new Error("enough");
    for (const [at, reply] of [{ stall: true }, { body: ["half", { stall: true }] }].entries()) {
      const controller = new AbortController();
      const fetch = createScriptedFetch([reply as { stall: true }]);
      const outcome = fetch({ ...ask, signal: controller.signal }).then(({ body }) => textOf(body));
      const settled = outcome.then(
        () => "ended",
        (error: unknown) => error,
      );
      await turn();
      controller.abort(reason);
      expect(await settled, `reply ${at}`).toBe(reason);
    }
  });

  it("makes no request if it was aborted before", async () => {
    const fetch = createScriptedFetch([{}]);
    await expect(fetch({ ...ask, signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
    expect(fetch.requests).toEqual([]);
  });

  it("creates its reply from the request", async () => {
    const fetch = createScriptedFetch(({ body }, call) => ({ body: [`${call}: ${body}`] }));
    expect(await textOf((await fetch(ask)).body)).toBe('0: {"a":1}');
  });
});
