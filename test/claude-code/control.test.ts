import { describe, expect, it, vi } from "vitest";
import type { AgentConversation, AgentLink } from "#backends";
import type { AgentEvent, Chunk } from "#domain";
import { createPolicy, type PolicySettings } from "#policy";
import { createSeededRandom, type SpawnStep } from "#testing";
import { tool } from "#tools";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { type Asked, messagesOf, ofType, readLog, sendAsRun, settingsFor } from "./place.ts";
import {
  answers,
  calls,
  greet,
  INIT,
  inputs,
  line,
  openScripted,
  result,
  says,
  type ScriptedPlace,
  writes,
} from "./scripted.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const request = (id: string, body: object) => ({ type: "control_request", request_id: id, request: body });
const before = (id: string, callId: string, name: string, input: unknown) =>
  request(id, {
    subtype: "hook_callback",
    callback_id: "before-tool",
    tool_use_id: callId,
    input: { hook_event_name: "PreToolUse", tool_name: name, tool_input: input, tool_use_id: callId },
  });
const after = (id: string, callId: string, name: string, response: unknown) =>
  request(id, {
    subtype: "hook_callback",
    callback_id: "after-tool",
    input: {
      hook_event_name: "PostToolUse",
      tool_name: name,
      tool_input: {},
      tool_response: response,
      tool_use_id: callId,
    },
  });
const mcp = (id: string, method: string, params: unknown, rpcId: number) =>
  request(id, {
    subtype: "mcp_message",
    server_name: "millrace",
    message: { jsonrpc: "2.0", id: rpcId, method, params },
  });
const toolCall = (id: string, callId: string, input: unknown, rpcId = 9) =>
  mcp(id, "tools/call", { name: "add", arguments: input, _meta: { "claudecode/toolUseId": callId } }, rpcId);

const first: SpawnStep[] = [greet, { waitForInput: "line" }];

/** One turn, carried out on virtual time. */
async function turn(
  place: ScriptedPlace,
  conversation: AgentConversation,
  input: Parameters<typeof messagesOf>[0] = "hello",
  asked: Asked = {},
): Promise<readonly AgentEvent[]> {
  const run = sendAsRun(conversation, input, { ...asked, clock: place.clock, random: createSeededRandom(3) });
  const reading = readLog(run);
  for (let step = 0; step < 100 && !run.isComplete(); step += 1) await place.clock.advance(0);
  for (let step = 0; step < 400 && !run.isComplete(); step += 1) await place.clock.advance(1000);
  return (await reading).log;
}

async function control(
  steps: readonly SpawnStep[],
  asked: Asked = {},
  script?: (call: number) => readonly SpawnStep[],
) {
  const place = openScripted((_, call) => script?.(call) ?? steps);
  const conversation = await place.backend({ mode: "control" }).open(settingsFor(asked));
  return {
    place,
    conversation,
    go: (input?: Parameters<typeof messagesOf>[0]) => turn(place, conversation, input, asked),
  };
}

const responses = (place: ScriptedPlace, call = 0) =>
  inputs(place.spawn.calls[call]?.stdin ?? "").flatMap((value) =>
    value["type"] === "control_response"
      ? [value["response"] as { request_id: string; response: object; subtype: string }]
      : [],
  );

describe("a turn in control mode", () => {
  it("S0-23 S0-81 S0-88 S0-27: initialize and the message go out together; text streams; one process, one result", async () => {
    const { place, conversation, go } = await control([...first, writes(INIT, says("m1", "Hello."), result("Hello."))]);
    const log = await go("hi there");
    expect(inputs(place.spawn.calls[0]?.stdin ?? "").map((value) => value["type"])).toEqual([
      "control_request",
      "user",
    ]);
    expect(inputs(place.spawn.calls[0]?.stdin ?? "")[1]).toMatchObject({
      message: { role: "user", content: "hi there" },
    });
    expect(log.map((event) => event.type)).toEqual(["start", "text-delta", "message", "result", "done"]);
    expect(ofType(log, "start")).toMatchObject([
      { mode: "control", sessionId: "session-1", tools: ["Bash", "mcp__millrace__add"] },
    ]);
    expect(conversation.sessionId).toBe("session-1");
    expect(place.spawn.calls[0]?.args).toEqual(
      expect.arrayContaining(["--input-format", "stream-json", "--include-partial-messages"]),
    );
  });

  it("S0-82 S0-83 S0-90 S0-91 AT-13: text, a tool, text, another tool, text: order kept, each hook called once", async () => {
    const seen: unknown[] = [];
    const asked: Asked = {
      policy: { hooks: [{ "before-tool": [({ name, input }) => void seen.push([name, input])] }] },
    };
    const { go } = await control(
      [
        ...first,
        writes(
          INIT,
          says("m1", "First."),
          calls("m2", "c1", "Bash", { command: "ls" }),
          before("h1", "c1", "Bash", { command: "ls" }),
        ),
        { waitForInput: "line" },
        writes(
          answers("c1", "files"),
          says("m3", "Then."),
          calls("m4", "c2", "Read", { file_path: "a" }),
          before("h2", "c2", "Read", { file_path: "a" }),
        ),
        { waitForInput: "line" },
        writes(answers("c2", "text"), says("m5", "Last."), result("Last.")),
      ],
      asked,
    );
    const log = await go();
    expect(seen).toEqual([
      ["Bash", { command: "ls" }],
      ["Read", { file_path: "a" }],
    ]);
    const told = log.filter(({ type }) => ["text-delta", "tool-call", "tool-result"].includes(type));
    expect(told.map((event) => ("text" in event ? event.text : event.type))).toEqual([
      "First.",
      "tool-call",
      "tool-result",
      "Then.",
      "tool-call",
      "tool-result",
      "Last.",
    ]);
  });

  it("S0-92: a tool that fails in the middle of the stream gives an error result, and the turn continues", async () => {
    const { go } = await control([
      ...first,
      writes(
        INIT,
        calls("m1", "c1", "Bash", {}),
        answers("c1", "Exit code 3", true),
        says("m2", "It failed."),
        result(),
      ),
    ]);
    const log = await go();
    expect(ofType(log, "tool-result")).toMatchObject([{ isError: true, output: "Exit code 3" }]);
    expect(log.at(-1)).toMatchObject({ result: { status: "success" } });
  });

  it("S0-78 S0-84 S0-95 AT-35: our tool runs over the channel, under its own name, and its value is the result", async () => {
    const { place, go } = await control(
      [
        ...first,
        writes(mcp("i", "initialize", { protocolVersion: "2025-11-25" }, 0), mcp("l", "tools/list", {}, 1), INIT),
        writes(calls("m1", "c1", "mcp__millrace__add", { a: 25, b: 17 }), toolCall("t", "c1", { a: 25, b: 17 })),
        { waitForInput: "line" },
        { waitForInput: "line" },
        { waitForInput: "line" },
        writes(answers("c1", [{ type: "text", text: "42" }]), says("m2", "42."), result("42.")),
      ],
      { tools: [add] },
    );
    const log = await go();
    expect(ofType(log, "tool-call")).toMatchObject([{ name: "add", executedBy: "millrace" }]);
    expect(ofType(log, "tool-result")).toMatchObject([{ name: "add", output: 42 }]);
    expect(inputs(place.spawn.calls[0]?.stdin ?? "")[0]).toMatchObject({ request: { sdkMcpServers: ["millrace"] } });
    expect(
      responses(place).map(({ response }) => (response as { mcp_response: { id: number } }).mcp_response.id),
    ).toEqual([0, 1, 9]);
    const allowed = place.spawn.calls[0]?.args ?? [];
    expect(allowed[allowed.indexOf("--allowed-tools") + 1]).toBe("mcp__millrace");
  });

  it("S0-89 S0-24: tools also run without deltas, and then the CLI is not asked for any", async () => {
    const place = openScripted([
      ...first,
      writes(INIT, calls("m1", "c1", "mcp__millrace__add", { a: 1, b: 2 }), toolCall("t", "c1", { a: 1, b: 2 })),
      { waitForInput: "line" },
      writes(answers("c1", "3"), says("m2", "3."), result("3.")),
    ]);
    const asked: Asked = { tools: [add] };
    const conversation = await place.backend({ includePartialMessages: false }).open(settingsFor(asked));
    const log = await turn(place, conversation, "go", asked);
    expect(ofType(log, "tool-result")).toMatchObject([{ name: "add", output: 3 }]);
    expect(place.spawn.calls[0]?.args).not.toContain("--include-partial-messages");
  });

  it("AT-16 S1-116: a CLI that never reports its session id works, and cannot be resumed", async () => {
    const { place, conversation, go } = await control([], {}, () => [
      ...first,
      writes({ ...INIT, session_id: undefined }, says("m1", "ok"), result("ok", { session_id: undefined })),
      { exit: 0 },
    ]);
    expect((await go()).at(-1)).toMatchObject({ result: { status: "success" } });
    expect(conversation.sessionId).toBe(undefined);
    await new Promise((resolve) => setImmediate(resolve));
    const said = (id: string, role: "user" | "assistant", text: string) => ({
      id,
      role,
      blocks: [{ type: "text" as const, text }],
    });
    await go([said("1", "user", "hello"), said("2", "assistant", "ok"), said("3", "user", "and now?")]);
    expect(place.spawn.calls[1]?.args).not.toContain("--resume");
    // A new process remembers nothing, so it is told.
    expect(place.spawn.calls[1]?.stdin).toContain("Assistant: ok");
  });

  it("S0-96 AT-14: a second message during a turn is rejected here; queueing is done above", async () => {
    const { place, conversation } = await control([...first, writes(INIT), { hang: true }]);
    const active = sendAsRun(conversation, "one", { clock: place.clock });
    await place.clock.advance(0);
    const second = await turn(place, conversation, "two");
    expect(ofType(second, "error")).toMatchObject([{ code: "control-failed", message: /under way/ }]);
    await active.abort();
  });

  it("AT-18 S0-97: a failed result ends the turn; the next one in the same process succeeds", async () => {
    const { place, go } = await control([
      ...first,
      writes(INIT, result("API Error", { is_error: true })),
      { waitForInput: "line" },
      writes(INIT, says("m2", "Better."), result("Better.")),
    ]);
    expect((await go()).at(-1)).toMatchObject({ result: { status: "error" } });
    const second = await go();
    expect(second.at(-1)).toMatchObject({ result: { status: "success", text: "Better." } });
    expect(ofType(second, "start")).toMatchObject([{ mode: "control", model: "m" }]);
    expect(place.spawn.calls).toHaveLength(1);
  });

  it("C2 C1: background work keeps the turn open until its own result has come", async () => {
    const { go } = await control([
      ...first,
      writes(
        INIT,
        { type: "system", subtype: "task_started", task_id: "t", is_backgrounded: true },
        says("m1", "Started."),
        result("Started."),
      ),
      { waitMs: 5000 },
      writes({ type: "system", subtype: "task_notification", task_id: "t" }),
      { waitMs: 300 },
      writes(INIT, says("m2", "Finished."), result("Finished.")),
    ]);
    const log = await go();
    expect(ofType(log, "result").map(({ text }) => text)).toEqual(["Started.", "Finished."]);
  });

  it("two turns that were opened one after the other are both awaited", async () => {
    const { go } = await control([
      ...first,
      writes(
        INIT,
        { type: "system", subtype: "background_tasks_changed", tasks: [] },
        INIT,
        says("m1", "a"),
        result("one"),
      ),
      { waitMs: 50 },
      writes(result("two")),
    ]);
    expect(ofType(await go(), "result").map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it("AT-17 S0-45: output between two turns is kept for the next, and the CLI's own turn does not answer ours", async () => {
    const { place, go } = await control([
      ...first,
      writes(INIT, result("one")),
      { waitMs: 10 },
      writes(INIT, says("b1", "By the way."), result("unasked")),
      { waitForInput: "line" },
      writes(INIT, says("m2", "Two."), result("two")),
    ]);
    await go();
    await place.clock.advance(20);
    const log = await go();
    expect(ofType(log, "message").map(({ id }) => id)).toEqual(["b1", "m2"]);
    expect(ofType(log, "result").map(({ text }) => text)).toEqual(["unasked", "two"]);
  });

  it("an open turn of the CLI's own is awaited before our message is written", async () => {
    const { place, conversation, go } = await control([
      ...first,
      writes(INIT, result("one")),
      { waitMs: 10 },
      writes(INIT, says("b1", "busy")),
      { waitMs: 200 },
      writes(result("unasked")),
      { waitForInput: "line" },
      writes(INIT, says("m2", "Two."), result("two")),
    ]);
    await go();
    await place.clock.advance(20);
    const run = sendAsRun(conversation, "second", { clock: place.clock });
    await place.clock.advance(100);
    expect(inputs(place.spawn.calls[0]?.stdin ?? "").filter(({ type }) => type === "user")).toHaveLength(1);
    for (let step = 0; step < 20 && !run.isComplete(); step += 1) await place.clock.advance(100);
    const { log } = await readLog(run);
    expect(ofType(log, "result").map(({ text }) => text)).toEqual(["unasked", "two"]);
  });

  it("S3-30: an earlier conversation is written into the first prompt, and only there", async () => {
    const { place, go } = await control([
      ...first,
      writes(INIT, says("m1", "Blue."), result()),
      { waitForInput: "line" },
      writes(INIT, says("m2", "Yes."), result()),
    ]);
    const history = [
      { id: "1", role: "user", blocks: [{ type: "text", text: "My colour is blue." }] },
      { id: "2", role: "assistant", blocks: [{ type: "text", text: "Noted." }] },
      { id: "3", role: "user", blocks: [{ type: "text", text: "Which is it?" }] },
    ] as const;
    await go(history);
    await go([
      ...history,
      { id: "4", role: "assistant", blocks: [{ type: "text", text: "Blue." }] },
      { id: "5", role: "user", blocks: [{ type: "text", text: "Sure?" }] },
    ]);
    const sent = inputs(place.spawn.calls[0]?.stdin ?? "").flatMap((value) =>
      value["type"] === "user" ? [(value["message"] as { content: string }).content] : [],
    );
    expect(sent[0]).toContain("User: My colour is blue.");
    expect(sent[0]).toContain("Assistant: Noted.");
    expect(sent[0]?.endsWith("Which is it?")).toBe(true);
    expect(sent[1]).toBe("Sure?");
  });

  it("images are sent as blocks", async () => {
    const { place, go } = await control([...first, writes(INIT, result())]);
    await go([
      {
        id: "1",
        role: "user",
        blocks: [
          { type: "text", text: "What is this?" },
          { type: "image", mediaType: "image/png", data: "AAAA" },
        ],
      },
    ]);
    expect(inputs(place.spawn.calls[0]?.stdin ?? "")[1]).toMatchObject({
      message: {
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        ],
      },
    });
  });
});

describe("decisions", () => {
  const deny: Partial<PolicySettings> = { permission: () => ({ allow: false, reason: "no" }) };

  it("S0-85 S0-93 S0-94: the decision of the hook is used for the question after it; no question is asked twice", async () => {
    const permission = vi.fn(() => ({ allow: true }) as const);
    const { place, go } = await control(
      [
        ...first,
        writes(INIT, calls("m1", "c1", "Bash", { command: "ls" }), before("h", "c1", "Bash", { command: "ls" })),
        { waitForInput: "line" },
        writes(
          request("p", { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "c1" }),
        ),
        { waitForInput: "line" },
        writes(answers("c1", "ok"), result()),
      ],
      { policy: { permission } },
    );
    const log = await go();
    expect(permission).toHaveBeenCalledTimes(1);
    expect(
      responses(place)
        .slice(0)
        .map(({ response }) => response),
    ).toEqual([
      {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "allow",
          updatedInput: { command: "ls" },
        },
      },
      { behavior: "allow", updatedInput: { command: "ls" } },
    ]);
    expect(ofType(log, "permission").map(({ state }) => state)).toEqual(["allowed"]);
  });

  it("SEC5: arguments that changed after the decision are decided again", async () => {
    const permission = vi.fn(({ input }: { input: unknown }) =>
      (input as { command: string }).command === "ls"
        ? ({ allow: true } as const)
        : ({ allow: false, reason: "other" } as const),
    );
    const { place, go } = await control(
      [
        ...first,
        writes(INIT, calls("m1", "c1", "Bash", { command: "ls" }), before("h", "c1", "Bash", { command: "ls" })),
        { waitForInput: "line" },
        writes(
          request("p", {
            subtype: "can_use_tool",
            tool_name: "Bash",
            input: { command: "rm -rf /" },
            tool_use_id: "c1",
          }),
        ),
        { waitForInput: "line" },
        writes(answers("c1", "no", true), result()),
      ],
      { policy: { permission } },
    );
    await go();
    expect(responses(place)[1]?.response).toEqual({ behavior: "deny", message: "other" });
  });

  it("I6 SEC5: our tool runs only with the arguments that were allowed, and once", async () => {
    const run = vi.fn(() => 1);
    const once = tool("add", "Add", { a: "number" }, run);
    const { place, go } = await control(
      [
        ...first,
        writes(
          INIT,
          calls("m1", "c1", "mcp__millrace__add", { a: 1 }),
          before("h", "c1", "mcp__millrace__add", { a: 1 }),
        ),
        { waitForInput: "line" },
        writes(toolCall("t1", "c1", { a: 2 }, 1)),
        { waitForInput: "line" },
        writes(calls("m2", "c2", "mcp__millrace__add", { a: 1 }), before("h2", "c2", "mcp__millrace__add", { a: 1 })),
        { waitForInput: "line" },
        writes(toolCall("t2", "c2", { a: 1 }, 2), toolCall("t3", "c2", { a: 1 }, 3)),
        { waitForInput: "line" },
        { waitForInput: "line" },
        writes(answers("c1", "no", true), answers("c2", "1"), result()),
      ],
      { tools: [once], policy: { permission: () => ({ allow: true }) } },
    );
    const log = await go();
    expect(run).toHaveBeenCalledTimes(1);
    expect(
      responses(place)
        .filter(({ request_id }) => request_id.startsWith("t"))
        .map(({ request_id, response }) => [
          request_id,
          "isError" in (response as { mcp_response: { result: object } }).mcp_response.result,
        ]),
    ).toEqual([
      ["t1", true],
      ["t3", true],
      ["t2", false],
    ]);
    expect(ofType(log, "tool-result")).toMatchObject([{ skipped: "denied" }, { output: 1 }]);
  });

  it("I5: one call has one effect, even without a reader", async () => {
    const run = vi.fn(() => 1);
    const { place, go } = await control(
      [
        ...first,
        writes(
          INIT,
          calls("m1", "c1", "mcp__millrace__add", { a: 1 }),
          toolCall("t1", "c1", { a: 1 }, 1),
          toolCall("t2", "c1", { a: 1 }, 2),
        ),
        { waitForInput: "line" },
        { waitForInput: "line" },
        writes(answers("c1", "1"), result()),
      ],
      { tools: [tool("add", "Add", { a: "number" }, run)] },
    );
    await go();
    expect(run).toHaveBeenCalledTimes(1);
    expect(responses(place)).toHaveLength(2);
  });

  it("I6: our tool does not run if the policy denies it, even if no hook was called before", async () => {
    const run = vi.fn(() => 1);
    const { go } = await control(
      [
        ...first,
        writes(INIT, calls("m1", "c1", "mcp__millrace__add", { a: 1 }), toolCall("t", "c1", { a: 1 })),
        { waitForInput: "line" },
        writes(answers("c1", "no", true), result()),
      ],
      { tools: [tool("add", "Add", { a: "number" }, run)], policy: deny },
    );
    const log = await go();
    expect(run).not.toHaveBeenCalled();
    expect(ofType(log, "tool-result")).toMatchObject([{ skipped: "denied", output: "no" }]);
  });

  it("R12 I6: of fifty concurrent calls exactly the allowed ones run", async () => {
    const ran: number[] = [];
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const { go } = await control(
      [
        ...first,
        writes(INIT, ...numbers.map((n) => calls(`m${n}`, `c${n}`, "mcp__millrace__add", { n }))),
        writes(...numbers.map((n) => before(`h${n}`, `c${n}`, "mcp__millrace__add", { n }))),
        ...numbers.map(() => ({ waitForInput: "line" }) as const),
        writes(...numbers.map((n) => toolCall(`t${n}`, `c${n}`, { n }, n))),
        ...numbers.map(() => ({ waitForInput: "line" }) as const),
        writes(...numbers.map((n) => answers(`c${n}`, "x", n % 3 !== 0)), result()),
      ],
      {
        tools: [tool("add", "Add", { n: "number" }, ({ n }) => void ran.push(n))],
        policy: { permission: ({ input }) => ({ allow: (input as { n: number }).n % 3 === 0 }) },
      },
    );
    await go();
    expect(ran.sort((left, right) => left - right)).toEqual(numbers.filter((n) => n % 3 === 0));
  });

  describe("F-C4: a request about a call of a message that is still being written", () => {
    const part = (event: object) => ({ type: "stream_event", event, parent_tool_use_id: null });
    const begun = (id: string, callId: string) => [
      part({ type: "message_start", message: { id, model: "m", usage: {} } }),
      part({
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: callId, name: "mcp__millrace__add", input: {} },
      }),
      calls(id, callId, "mcp__millrace__add", { a: 1, b: 2 }),
    ];
    const over = [
      part({ type: "content_block_stop", index: 0 }),
      part({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} }),
      part({ type: "message_stop" }),
    ];
    const ends = [answers("c1", "3"), says("m2", "Three."), result("Three.")];
    const asked: Asked = { tools: [add], policy: { permission: () => ({ allow: true }) } };
    const story = (log: readonly AgentEvent[]) =>
      log.flatMap((event) =>
        event.type === "permission" ? [`permission ${event.state}`] : event.type.endsWith("delta") ? [] : [event.type],
      );
    const decided = ["tool-call", "permission allowed"];

    it("waits for the rest of it, however short that is", async () => {
      const { go } = await control(
        [
          ...first,
          writes(INIT, ...begun("m1", "c1"), before("h", "c1", "mcp__millrace__add", { a: 1, b: 2 })),
          { waitMs: 900 },
          writes(...over),
          { waitForInput: "line" },
          writes(toolCall("t", "c1", { a: 1, b: 2 })),
          { waitForInput: "line" },
          writes(...ends),
        ],
        asked,
      );
      expect(story(await go())).toEqual([
        ...["start", "message", ...decided, "tool-result", "message", "result", "done"],
      ]);
    });

    it("is answered after a second if the CLI waits for the answer first; the message is emitted again at its end", async () => {
      const { go } = await control(
        [
          ...first,
          writes(INIT, ...begun("m1", "c1"), before("h", "c1", "mcp__millrace__add", { a: 1, b: 2 })),
          { waitForInput: "line" },
          writes(toolCall("t", "c1", { a: 1, b: 2 })),
          { waitForInput: "line" },
          writes(...over, ...ends),
        ],
        asked,
      );
      const log = await go();
      expect(story(log)).toEqual([
        ...["start", "message", ...decided, "message", "tool-result", "message", "result", "done"],
      ]);
      expect(ofType(log, "message").map(({ id, stopReason }) => [id, stopReason])).toEqual([
        ["m1", undefined],
        ["m1", "tool-use"],
        ["m2", undefined],
      ]);
      expect(ofType(log, "tool-result")).toMatchObject([{ output: 3, isError: false }]);
    });

    it("is not answered if it was cancelled meanwhile", async () => {
      const { place, go } = await control(
        [
          ...first,
          writes(INIT, ...begun("m1", "c1"), before("h", "c1", "mcp__millrace__add", { a: 1, b: 2 })),
          writes({ type: "control_cancel_request", request_id: "h" }, ...over, ...ends),
        ],
        asked,
      );
      expect(story(await go())).toEqual([
        ...["start", "message", "tool-call", "tool-result", "message", "result", "done"],
      ]);
      expect(responses(place).map(({ request_id }) => request_id)).not.toContain("h");
    });

    it("is denied if the process exits before the message is over, and the call is emitted and answered once", async () => {
      const { go } = await control(
        [
          ...first,
          writes(INIT, ...begun("m1", "c1"), before("h", "c1", "mcp__millrace__add", { a: 1, b: 2 })),
          { exit: 1 },
        ],
        asked,
      );
      expect(story(await go())).toEqual(["start", "message", "tool-call", "tool-result", "error", "done"]);
    });
  });

  it("C26: unknown hooks deny a tool, unknown requests and servers are rejected", async () => {
    const { place, go } = await control([
      ...first,
      writes(
        INIT,
        request("a", {
          subtype: "hook_callback",
          callback_id: "stranger",
          input: { hook_event_name: "PreToolUse", tool_name: "Bash" },
        }),
        request("b", { subtype: "elicitation" }),
        request("c", { subtype: "mcp_message", server_name: "other", message: {} }),
        request("d", {}),
      ),
      { waitForInput: "line" },
      { waitForInput: "line" },
      { waitForInput: "line" },
      { waitForInput: "line" },
      writes(result()),
    ]);
    await go();
    const byId = new Map(responses(place).map((one) => [one.request_id, one]));
    expect(byId.get("a")?.response).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
    expect(["b", "c", "d"].map((id) => byId.get(id)?.subtype)).toEqual(["error", "error", "error"]);
  });

  it("a replaced result that the CLI cannot replace ends the conversation, and the session is not resumed", async () => {
    const { place, conversation, go } = await control(
      [
        ...first,
        writes(INIT, calls("m1", "c1", "Glob", {}), before("h", "c1", "Glob", {})),
        { waitForInput: "line" },
        writes(after("p", "c1", "Glob", { filenames: ["secret"] })),
        { hang: true },
      ],
      { policy: { guards: [{ name: "g", place: "tool-result", check: () => ({ deny: "hidden" }) }] } },
    );
    const log = await go();
    expect(ofType(log, "error")).toMatchObject([{ code: "guard-denied", terminal: true }]);
    expect(JSON.stringify(log)).not.toContain("secret");
    expect(place.spawn.calls[0]?.isGone).toBe(true);
    expect(conversation.sessionId).toBe(undefined);
  });

  it.each([
    ["2.1.120", "guard-denied"],
    ["2.1.121", undefined],
  ])("a replaced result on CLI %s, which replaces from 2.1.121 on: %s", async (version, code) => {
    const policy: Asked["policy"] = {
      guards: [{ name: "g", place: "tool-result", check: () => ({ replace: "***" }) }],
    };
    const steps: SpawnStep[] = [
      ...first,
      writes(INIT, calls("m1", "c1", "Bash", {}), before("h", "c1", "Bash", {})),
      { waitForInput: "line" },
      writes(after("p", "c1", "Bash", { stdout: "secret" })),
      { waitForInput: "line" },
      writes(result()),
    ];
    const asksVersion: SpawnStep[] = [{ write: `${version} (Claude Code)\n` }, { exit: 0 }];
    const place = openScripted((_, call) => (call === 0 ? asksVersion : steps));
    const conversation = await place
      .backend({ mode: "control", skipVersionCheck: false })
      .open(settingsFor({ policy }));
    const log = await turn(place, conversation, "hello", { policy });
    expect(ofType(log, "error")[0]?.code).toBe(code);
    expect(JSON.stringify(log)).not.toContain("secret");
  });
});

/** A link whose reader never comes back. */
function stalledLink(signal: AbortSignal, policy: Partial<PolicySettings> = {}): { link: AgentLink; chunks: Chunk[] } {
  const chunks: Chunk[] = [];
  const place = {
    runId: "r",
    agent: undefined,
    context: undefined,
    signal,
    clock: { now: () => 0, after: () => () => undefined },
    write: (given: readonly Chunk[]) => void chunks.push(...given),
    ask: async () => ({ allow: false }) as const,
  };
  return {
    chunks,
    link: {
      runId: "r",
      signal,
      write: (given) => {
        chunks.push(...given);
        return new Promise(() => undefined);
      },
      policy: createPolicy(
        { hooks: [], rules: [], permission: undefined, guards: [], outputMode: undefined, ...policy },
        place,
      ),
      runTool: async () => ({ kind: "returned", output: 42 }),
    },
  };
}

describe("a slow reader", () => {
  it("I10 R14: control messages are answered without a reader, and reading stops after 8 MiB", async () => {
    const big = line(says("x", "y".repeat(1024 * 1024 - 300)));
    let written = 0;
    const flood: SpawnStep[] = Array.from({ length: 30 }, (_, n) => ({
      write: (() => {
        written = n;
        return big.replace('"x"', `"x${n}"`);
      })(),
    }));
    void written;
    const place = openScripted([
      ...first,
      writes(
        INIT,
        calls("m0", "c0", "mcp__millrace__add", { a: 1 }),
        before("h", "c0", "mcp__millrace__add", { a: 1 }),
      ),
      { waitForInput: "line" },
      writes(toolCall("t", "c0", { a: 1 })),
      { waitForInput: "line" },
      ...flood,
      { hang: true },
    ]);
    const asked: Asked = { tools: [add], policy: { permission: () => ({ allow: true }) } };
    const conversation = await place.backend().open(settingsFor(asked));
    const controller = new AbortController();
    const { link, chunks } = stalledLink(controller.signal, asked.policy);
    const sending = conversation.send(messagesOf("go"), link);
    for (let step = 0; step < 200; step += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(responses(place).map(({ request_id }) => request_id)).toEqual(["h", "t"]);
    const bytes = chunks.reduce((sum, chunk) => sum + (chunk.type === "text-delta" ? chunk.text.length : 0), 0);
    expect(bytes).toBeGreaterThan(6 * 1024 * 1024);
    expect(bytes).toBeLessThan(10 * 1024 * 1024);
    controller.abort();
    await place.clock.advance(10_000);
    await sending;
    expect(place.spawn.calls[0]?.isGone).toBe(true);
  });
});

describe("failures", () => {
  it("C5: an initialize that is never answered fails after a minute, and the process is stopped", async () => {
    const { place, go } = await control([{ hang: true }]);
    const log = await go();
    expect(ofType(log, "error")).toMatchObject([{ code: "control-failed", message: /initialize.*60000/ }]);
    expect(place.spawn.calls[0]?.isGone).toBe(true);
  });

  it("an initialize that is rejected fails at once", async () => {
    const { place, go } = await control([
      {
        reply: (text) => {
          const { request_id } = JSON.parse(text) as { request_id: string };
          return line({ type: "control_response", response: { subtype: "error", request_id, error: "bad hooks" } });
        },
      },
      { hang: true },
    ]);
    expect(ofType(await go(), "error")).toMatchObject([{ code: "control-failed", message: /bad hooks/ }]);
    expect(place.spawn.calls[0]?.isGone).toBe(true);
  });

  it("AT-38 (d): a CLI that dies during initialize reports the reason, and nothing stays pending", async () => {
    const { place, go } = await control([{ stderr: "Error: unknown option '--input-format'\n" }, { exit: 1 }]);
    const log = await go();
    expect(ofType(log, "error")).toMatchObject([
      {
        code: "process-exited",
        message: /unknown option/,
        diagnostic: { exitCode: 1, stdoutWasEmpty: true, stderrTail: /unknown option/ },
      },
    ]);
    expect(place.clock.pending()).toBe(0);
  });

  it.each([
    ["exits with 0", { exit: 0 }, "no-result"],
    ["exits with 7", { exit: 7 }, "process-exited"],
    ["is killed", { exit: "SIGKILL" }, "process-exited"],
  ] as const)(
    "a CLI that %s in the middle of a turn is an error, and open calls are answered",
    async (_, step, code) => {
      const { go } = await control([...first, writes(INIT, says("m1", "half"), calls("m2", "c1", "Bash", {})), step]);
      const log = await go();
      expect(ofType(log, "error")).toMatchObject([{ code, terminal: true }]);
      expect(ofType(log, "tool-result")).toMatchObject([{ skipped: "incomplete" }]);
    },
  );

  it("S1-11: a result remains valid, whatever the exit", async () => {
    const { go } = await control([...first, writes(INIT, says("m1", "ok"), result("ok")), { exit: 1 }]);
    expect((await go()).at(-1)).toMatchObject({ result: { status: "success" } });
  });

  it("C5 S0-64: silence is reported after a minute and ends the turn after five; ours does not count", async () => {
    const { place, go } = await control([...first, writes(INIT), { hang: true }]);
    const started = place.clock.now();
    const log = await go();
    expect(ofType(log, "notice").filter(({ kind }) => kind === "stall")).toMatchObject([
      { data: { silentMs: 60_000 } },
    ]);
    expect(ofType(log, "error")).toMatchObject([{ code: "stalled", message: /300000 ms/ }]);
    expect(place.clock.now() - started).toBeGreaterThanOrEqual(300_000);
    expect(place.spawn.calls[0]?.isGone).toBe(true);

    const slow = await control(
      [
        ...first,
        writes(INIT, calls("m1", "c1", "Bash", {}), before("h", "c1", "Bash", {})),
        { waitForInput: "line" },
        writes(answers("c1", ""), result()),
      ],
      {
        policy: {
          permission: () =>
            new Promise((resolve) => void slow.place.clock.after(200_000 * 2, () => resolve({ allow: true }))),
        },
      },
    );
    const run = sendAsRun(slow.conversation, "go", {
      clock: slow.place.clock,
      policy: {
        permission: () =>
          new Promise((resolve) => void slow.place.clock.after(400_000, () => resolve({ allow: true }))),
      },
    });
    for (let step = 0; step < 60 && !run.isComplete(); step += 1) await slow.place.clock.advance(10_000);
    expect(await run.result()).toMatchObject({ status: "success" });
  });

  it("I6 AT-40: an abort answers open requests with a denial, signals first, and leaves stdin open until then", async () => {
    const policy = { permission: () => new Promise<never>(() => undefined) };
    const { place, conversation } = await control(
      [...first, writes(INIT, calls("m1", "c1", "Bash", {}), before("h", "c1", "Bash", {})), { hang: true }],
      { policy },
    );
    const run = sendAsRun(conversation, "go", { clock: place.clock, policy });
    for (let step = 0; step < 20; step += 1) await place.clock.advance(0);
    const aborting = run.abort();
    for (let step = 0; step < 20; step += 1) await place.clock.advance(100);
    await aborting;
    expect(responses(place).map(({ response }) => response)).toMatchObject([
      { hookSpecificOutput: { permissionDecision: "deny" } },
    ]);
    expect(place.spawn.calls[0]).toMatchObject({ isGone: true, signals: ["SIGTERM"], inputEnded: false });
    expect(await run.result()).toMatchObject({ status: "aborted" });
  });

  const withdrawn = { type: "control_cancel_request", request_id: "h" };
  const canUse = (id: string, callId: string, name: string, input: unknown) =>
    request(id, { subtype: "can_use_tool", tool_name: name, tool_use_id: callId, input });

  it.each([
    ["a hook", before("h", "c1", "Bash", {})],
    ["a permission", canUse("h", "c1", "Bash", {})],
  ])(
    "F-B8: a question over %s that is withdrawn fires the callback's signal and is closed in the log",
    async (_, question) => {
      let fired: unknown;
      const policy: Partial<PolicySettings> = {
        permission: ({ signal }) => new Promise(() => signal.addEventListener("abort", () => (fired = signal.aborted))),
      };
      const { place, go } = await control(
        [
          ...first,
          writes(INIT, calls("m1", "c1", "Bash", {}), question),
          { waitMs: 10 },
          writes(withdrawn, answers("c1", "withdrawn", true), says("m2", "Well."), result("Well.")),
        ],
        { policy },
      );
      const log = await go();
      expect(fired).toBe(true);
      expect(ofType(log, "permission")).toMatchObject([{ callId: "c1", state: "denied", reason: /withdrawn/ }]);
      expect(log.at(-1)).toMatchObject({ result: { status: "success" } });
      // Nothing is answered any more: a late answer would be for nobody.
      expect(responses(place)).toEqual([]);
    },
  );

  it("F-B8: a withdrawn question to a person is closed in the log, and a late answer has no effect", async () => {
    const { place, conversation } = await control(
      [
        ...first,
        writes(INIT, calls("m1", "c1", "Bash", {}), before("h", "c1", "Bash", {})),
        { waitMs: 10 },
        writes(withdrawn, answers("c1", "withdrawn", true)),
        { waitMs: 10 },
        writes(says("m2", "Well."), result("Well.")),
      ],
      { policy: { rules: [{ ask: ["Bash"] }] } },
    );
    const run = sendAsRun(conversation, "go", { clock: place.clock, policy: { rules: [{ ask: ["Bash"] }] } });
    const reading = readLog(run);
    await place.clock.advance(0);
    await place.clock.advance(15);
    expect(run.answer("c1", { allow: true })).toBe(false);
    await place.clock.advance(100);
    const { log } = await reading;
    expect(ofType(log, "permission").map(({ state }) => state)).toEqual(["asked", "denied"]);
    expect(responses(place)).toEqual([]);
  });

  it("F-B8: a call of ours that is withdrawn fires the tool's signal", async () => {
    let fired = false;
    const slow = tool(
      "add",
      "Add two numbers",
      { a: "number", b: "number" },
      (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => (fired = true))),
    );
    const { go } = await control(
      [
        ...first,
        writes(INIT, calls("m1", "c1", "mcp__millrace__add", { a: 1, b: 2 }), toolCall("h", "c1", { a: 1, b: 2 })),
        { waitMs: 10 },
        writes(withdrawn, answers("c1", "withdrawn", true), says("m2", "Well."), result("Well.")),
      ],
      { tools: [slow] },
    );
    await go();
    expect(fired).toBe(true);
  });

  it("I6: a permission question that is open when the conversation ends is answered with a denial", async () => {
    const policy = { permission: () => new Promise<never>(() => undefined) };
    const { place, conversation } = await control(
      [...first, writes(INIT, calls("m1", "c1", "Bash", {}), canUse("p", "c1", "Bash", {})), { hang: true }],
      { policy },
    );
    const run = sendAsRun(conversation, "go", { clock: place.clock, policy });
    for (let step = 0; step < 20; step += 1) await place.clock.advance(0);
    const aborting = run.abort();
    for (let step = 0; step < 20; step += 1) await place.clock.advance(100);
    await aborting;
    expect(responses(place).map(({ response }) => response)).toMatchObject([{ behavior: "deny" }]);
  });

  it("S1-11: an exit while waiting for background work leaves the result unchanged, and is reported", async () => {
    const task = { type: "system", subtype: "task_started", task_id: "t", is_backgrounded: true };
    const { go } = await control([
      ...first,
      writes(INIT, task, says("m1", "Started."), result("Started.")),
      { waitMs: 500 },
      { exit: 9 },
    ]);
    const log = await go();
    expect(log.at(-1)).toMatchObject({ result: { status: "success", text: "Started." } });
    expect(ofType(log, "warning").map(({ code }) => code)).toEqual(["non-zero-exit-after-result"]);
  });

  it("S0-66: the session id is taken from the result if nothing before contained it", async () => {
    const { conversation, go } = await control([
      ...first,
      writes({ ...INIT, session_id: undefined }, says("m1", "ok"), result("ok", { session_id: "late-1" })),
    ]);
    const log = await go();
    expect(conversation.sessionId).toBe("late-1");
    expect(log.at(-1)).toMatchObject({ result: { sessionId: "late-1" } });
  });

  it("S0-45: of the output between two turns the newest 1,000 chunks are kept, and the rest is counted", async () => {
    const limit = (at: number) => ({ type: "rate_limit_event", rate_limit_info: { status: `s${at}` } });
    const { place, go } = await control([
      ...first,
      writes(INIT, result("one")),
      { waitMs: 10 },
      writes(...Array.from({ length: 1003 }, (_, at) => limit(at))),
      { waitForInput: "line" },
      writes(INIT, says("m2", "Two."), result("two")),
    ]);
    await go();
    for (let step = 0; step < 40; step += 1) await place.clock.advance(10);
    const log = await go();
    expect(ofType(log, "warning")).toMatchObject([{ code: "events-dropped", context: { dropped: 3 } }]);
    const kept = ofType(log, "notice").filter(({ data }) => JSON.stringify(data).includes("rate_limit_event"));
    expect(kept).toHaveLength(1000);
    expect(JSON.stringify(kept[0]?.data)).toContain('"s3"');
  });

  it("a process that has exited is replaced by one that resumes the session", async () => {
    const { place, go } = await control([], {}, (call) =>
      call === 0
        ? [...first, writes(INIT, result("one")), { exit: 0 }]
        : [...first, writes({ ...INIT, session_id: "session-1" }, says("m2", "two"), result("two"))],
    );
    await go();
    await new Promise((resolve) => setImmediate(resolve));
    const log = await go();
    expect(log.at(-1)).toMatchObject({ result: { status: "success" } });
    const args = place.spawn.calls[1]?.args ?? [];
    expect(args[args.indexOf("--resume") + 1]).toBe("session-1");
  });

  it("a message to a closed conversation is an error; closing twice is safe", async () => {
    const { place, conversation, go } = await control([...first, writes(INIT, result()), { waitForInput: "end" }]);
    await go();
    await Promise.all([conversation.close(), conversation.close(), place.clock.advance(10)]);
    expect(place.spawn.calls[0]).toMatchObject({ isGone: true, inputEnded: true, signals: [] });
    expect(ofType(await go(), "error")).toMatchObject([{ code: "control-failed", message: /closed/ }]);
  });

  it("a close in the middle of a turn ends it", async () => {
    const { place, conversation } = await control([...first, writes(INIT), { hang: true }]);
    const run = sendAsRun(conversation, "go", { clock: place.clock });
    await place.clock.advance(0);
    const closing = conversation.close();
    await place.clock.advance(5000);
    await closing;
    expect(await run.result()).toMatchObject({ status: "error", error: { code: "aborted" } });
    expect(place.spawn.calls[0]?.isGone).toBe(true);
  });

  it("AT-26: a line over the limit ends the turn and the process", async () => {
    const { place, go } = await control([
      ...first,
      writes(INIT),
      { write: `"${"x".repeat(10_485_760)}"\n` },
      { hang: true },
    ]);
    expect(ofType(await go(), "error")).toMatchObject([{ code: "buffer-overflow", terminal: true }]);
    expect(place.spawn.calls[0]?.isGone).toBe(true);
  });
});

describe("changes while it runs", () => {
  it("AT-36 S0-79 S0-80: model, permission mode, agent and the status of tool servers are separate requests", async () => {
    const { place, conversation, go } = await control([
      ...first,
      writes(INIT, result()),
      greet,
      greet,
      greet,
      {
        reply: (text) => {
          const { request_id } = JSON.parse(text) as { request_id: string };
          return line({
            type: "control_response",
            response: {
              subtype: "success",
              request_id,
              response: { mcpServers: [{ name: "millrace" }, { name: "files", status: "failed" }, 7, {}] },
            },
          });
        },
      },
      { waitForInput: "end" },
    ]);
    await go();
    await conversation.setModel("sonnet");
    await conversation.setPermissionMode("acceptEdits");
    await conversation.setAgent("reviewer");
    expect(await conversation.mcpStatus()).toEqual([
      { name: "millrace", status: "unknown" },
      { name: "files", status: "failed" },
    ]);
    const sent = inputs(place.spawn.calls[0]?.stdin ?? "").filter(({ type }) => type === "control_request");
    expect(new Set(sent.map(({ request_id }) => request_id)).size).toBe(5);
    expect(sent.map((value) => value["request"])).toMatchObject([
      { subtype: "initialize" },
      { subtype: "set_model", model: "sonnet" },
      { subtype: "set_permission_mode", mode: "acceptEdits" },
      { subtype: "apply_flag_settings", settings: { agent: "reviewer" } },
      { subtype: "mcp_status" },
    ]);
    await conversation.interrupt();
    // Nothing is under way, so there is nothing to interrupt.
    expect(inputs(place.spawn.calls[0]?.stdin ?? "").filter(({ type }) => type === "control_request")).toHaveLength(5);
  });

  it("AT-36: an interrupt during a turn is a separate request; answers in another order are matched by id", async () => {
    const held: string[] = [];
    const hold: SpawnStep = {
      reply: (text) => {
        held.push((JSON.parse(text) as { request_id: string }).request_id);
        return "";
      },
    };
    const reversed: SpawnStep = {
      reply: (text) => {
        const { request_id } = JSON.parse(text) as { request_id: string };
        return [request_id, ...held.toReversed()]
          .map((id) => {
            // One of them is refused: who is told so shows whose answer it was taken for.
            const response =
              id === held[1] ? { subtype: "error", error: "not now" } : { subtype: "success", response: {} };
            return line({ type: "control_response", response: { request_id: id, ...response } });
          })
          .join("");
      },
    };
    const { place, conversation } = await control([
      ...first,
      writes(INIT, says("m1", "Well,")),
      hold,
      hold,
      reversed,
      writes(result("", { subtype: "error_during_execution", is_error: true })),
    ]);
    const run = sendAsRun(conversation, "go", { clock: place.clock });
    await place.clock.advance(0);
    const changed = Promise.allSettled([
      conversation.setModel("sonnet"),
      conversation.setPermissionMode("plan"),
      conversation.interrupt(),
    ]);
    for (let step = 0; step < 20; step += 1) await place.clock.advance(10);
    expect(await changed).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "control-failed", message: expect.stringContaining("not now") } },
      { status: "fulfilled" },
    ]);
    const sent = inputs(place.spawn.calls[0]?.stdin ?? "").filter(({ type }) => type === "control_request");
    expect(sent.slice(1).map((value) => (value["request"] as { subtype: string }).subtype)).toEqual([
      "set_model",
      "set_permission_mode",
      "interrupt",
    ]);
    expect(await run.result()).toMatchObject({ status: "error", subtype: "error_during_execution" });
  });

  it("without a process they apply to the next one; invalid values are rejected here", async () => {
    const { place, conversation, go } = await control([...first, writes(INIT, result())]);
    await conversation.setModel("haiku");
    await expect(conversation.setPermissionMode("whatever")).rejects.toMatchObject({ code: "invalid-option" });
    await expect(conversation.setModel("--evil")).rejects.toMatchObject({ code: "invalid-option" });
    await go();
    expect(place.spawn.calls[0]?.args).toEqual(expect.arrayContaining(["--model", "haiku"]));
  });

  it("S0-80: an agent that the CLI does not have is rejected as such, and the previous one stays", async () => {
    const refuses: SpawnStep = {
      reply: (text) => {
        const { request_id } = JSON.parse(text) as { request_id: string };
        const error = 'Agent "nobody" not found';
        return line({ type: "control_response", response: { subtype: "error", request_id, error } });
      },
    };
    const { place, conversation, go } = await control([...first, writes(INIT, result()), greet, refuses, { exit: 0 }]);
    await go();
    await conversation.setAgent("reviewer");
    await expect(conversation.setAgent("nobody")).rejects.toMatchObject({
      code: "unknown-agent",
      message: /no agent "nobody" in claude-code.*claudeCode\.agents/,
    });
    await place.clock.advance(1000);
    await go().catch(() => undefined);
    const args = place.spawn.calls.at(-1)?.args ?? [];
    expect(args[args.indexOf("--agent") + 1]).toBe("reviewer");
  });

  it("S0-80: a closed conversation starts nothing for a late control", async () => {
    const { place, conversation } = await control([...first, writes(INIT, result())]);
    await conversation.close();
    await expect(conversation.warmUp()).rejects.toThrow(/closed/);
    await expect(conversation.mcpStatus()).rejects.toThrow(/closed/);
    await expect(conversation.setAgent("reviewer")).rejects.toThrow(/closed/);
    expect(place.spawn.calls).toEqual([]);
  });

  it("an error answer rejects that request only", async () => {
    const { conversation, go } = await control([
      ...first,
      writes(INIT, result()),
      {
        reply: (text) => {
          const { request_id } = JSON.parse(text) as { request_id: string };
          return line({
            type: "control_response",
            response: { subtype: "error", request_id, error: "bypass_not_launched" },
          });
        },
      },
      { waitForInput: "line" },
      writes(INIT, says("m", "fine"), result("fine")),
    ]);
    await go();
    await expect(conversation.setPermissionMode("bypassPermissions")).rejects.toMatchObject({
      message: /bypass_not_launched/,
    });
    expect((await go()).at(-1)).toMatchObject({ result: { status: "success" } });
  });
});

describe("opening", () => {
  it("S3-31: prewarm starts the process and sends initialize before the first message", async () => {
    const place = openScripted([greet, { waitForInput: "line" }, writes(INIT, result())]);
    const conversation = await place.backend({ mode: "control", prewarm: true }).open(settingsFor({}));
    expect(place.spawn.calls).toHaveLength(1);
    await place.clock.advance(0);
    expect(inputs(place.spawn.calls[0]?.stdin ?? "").map(({ type }) => type)).toEqual(["control_request"]);
    expect((await turn(place, conversation)).at(-1)).toMatchObject({ result: { status: "success" } });
  });

  it("S0-12 C4: forced plain mode drops what it does not support, with one warning each, before anything else", async () => {
    const place = openScripted([{ waitForInput: "end" }, writes(INIT, result())]);
    const asked: Asked = {
      tools: [add],
      policy: { permission: () => ({ allow: true }), hooks: [{ "before-tool": [() => undefined] }] },
    };
    const backend = place.backend({ mode: "plain" });
    const conversation = await backend.open(settingsFor(asked));
    const log = await turn(place, conversation);
    expect(log.slice(0, 3)).toMatchObject([
      { type: "warning", code: "feature-ignored", context: { feature: "hooks" } },
      { type: "warning", code: "feature-ignored", context: { feature: "tools" } },
      { type: "warning", code: "feature-ignored", context: { feature: "permission" } },
    ]);
    const strict = backend.open(settingsFor({ ...asked, settings: { strict: true } }));
    await expect(strict).rejects.toMatchObject({ name: "StartError", code: "feature-unavailable" });
  });

  it("S0-31 C16: a CLI that is too old for a requested feature is rejected, with both versions", async () => {
    const place = openScripted([{ write: "1.0.120 (Claude Code)\n" }, { exit: 0 }]);
    const backend = place.backend({ skipVersionCheck: false });
    await expect(backend.open(settingsFor({ tools: [add] }))).rejects.toMatchObject({
      code: "feature-unavailable",
      message: /2\.0\.0.*1\.0\.120/,
    });
    await expect(backend.open(settingsFor({ tools: [add] }))).rejects.toMatchObject({ code: "feature-unavailable" });
    expect(place.spawn.calls).toHaveLength(1);
  });

  it.each([
    ["2.0.77", false],
    ["2.1.0", true],
  ])("S0-31: our tools together with deltas need 2.1.0: %s", async (version, isEnough) => {
    const place = openScripted([{ write: `${version} (Claude Code)\n` }, { exit: 0 }]);
    const opening = place
      .backend({ skipVersionCheck: false, includePartialMessages: true })
      .open(settingsFor({ tools: [add] }));
    if (isEnough) await expect(opening).resolves.toBeDefined();
    else await expect(opening).rejects.toMatchObject({ code: "feature-unavailable", message: /2\.1\.0.*2\.0\.77/ });
  });

  it("S1-28: the version of a program is cached for 60 s, and then queried again", async () => {
    const place = openScripted([{ write: "2.1.197 (Claude Code)\n" }, { exit: 0 }]);
    const world = { ...place.world, versions: new Map() };
    const find = () => createClaudeCodeBackend({}, world).find();
    await find();
    await place.clock.advance(59_999);
    await find();
    expect(place.spawn.calls).toHaveLength(1);
    await place.clock.advance(1);
    await find();
    expect(place.spawn.calls).toHaveLength(2);
  });

  it("S3-29 S1-116: resume, continue and fork are passed as arguments", async () => {
    for (const [resume, args] of [
      [{ kind: "resume", sessionId: "abc-1", fork: false }, ["--resume", "abc-1"]],
      [{ kind: "resume", sessionId: "abc-1", fork: true }, ["--resume", "abc-1", "--fork-session"]],
      [{ kind: "continue", fork: false }, ["--continue"]],
    ] as const) {
      const { place, go } = await control([...first, writes(INIT, result())], { settings: { resume } });
      await go();
      expect(place.spawn.calls[0]?.args).toEqual(expect.arrayContaining([...args]));
    }
  });
});
