import { describe, expect, it, vi } from "vitest";
import type { RunError } from "#domain";
import { createVirtualClock } from "#testing";
import type { JsonRecord } from "#wire";
import { createControlChannel, type IncomingAnswer } from "./channel.ts";
import { readControlFrame } from "./control-frame.ts";

function open(answer: IncomingAnswer = async () => ({})) {
  const clock = createVirtualClock();
  const lines: JsonRecord[] = [];
  const busy: boolean[] = [];
  const channel = createControlChannel({
    clock,
    write: (text) => {
      for (const line of text.split("\n")) if (line !== "") lines.push(JSON.parse(line) as JsonRecord);
    },
    answer,
    denialOf: (request) => (request["subtype"] === "can_use_tool" ? { behavior: "deny" } : undefined),
    onBusy: (isBusy) => busy.push(isBusy),
  });
  const receive = (frame: JsonRecord): void => channel.receive(readControlFrame(frame));
  const success = (id: unknown, response?: JsonRecord): void =>
    receive({ type: "control_response", response: { subtype: "success", request_id: id, response } });
  const ask = (id: string, request: JsonRecord): void => receive({ type: "control_request", request_id: id, request });
  return { clock, lines, busy, channel, receive, success, ask };
}

const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("requests to the CLI", () => {
  it("AT-36: have unique ids, and responses are matched in any order", async () => {
    const { channel, lines, success } = open();
    const answers = ["a", "b", "c"].map((model) => channel.request({ subtype: "set_model", model }));
    const ids = lines.map((line) => line["request_id"]);
    expect(new Set(ids).size).toBe(3);
    for (const [index, id] of [...ids.entries()].reverse()) success(id, { index });
    expect(await Promise.all(answers)).toEqual([{ index: 0 }, { index: 1 }, { index: 2 }]);
  });

  it("AT-36: an error response rejects only its own request", async () => {
    const { channel, lines, success, receive } = open();
    const bad = channel.request({ subtype: "set_permission_mode", mode: "x" });
    const good = channel.request({ subtype: "interrupt" });
    const [first, second] = lines.map((line) => line["request_id"]);
    receive({ type: "control_response", response: { subtype: "error", request_id: first, error: "invalid_mode" } });
    success(second);
    await expect(bad).rejects.toMatchObject({
      code: "control-failed",
      message: expect.stringContaining("invalid_mode"),
    });
    expect(await good).toEqual({});
  });

  it("C5: a missing response is a failure after a minute, and a late one has no effect", async () => {
    const { channel, clock, lines, success } = open();
    const late = channel.request({ subtype: "mcp_status" }).catch((error: RunError) => error);
    await clock.advance(59_999);
    expect(clock.pending()).toBe(1);
    await clock.advance(1);
    expect(await late).toMatchObject({ code: "control-failed", message: expect.stringContaining("60000 ms") });
    success(lines[0]?.["request_id"]);
    expect(clock.pending()).toBe(0);
  });

  it("when the process exits, pending requests fail at once, and so do later ones", async () => {
    const { channel, clock } = open();
    const waiting = channel.request({ subtype: "interrupt" });
    channel.close("The process is gone.");
    await expect(waiting).rejects.toMatchObject({ message: "The process is gone." });
    await expect(channel.request({ subtype: "interrupt" })).rejects.toMatchObject({ code: "control-failed" });
    expect(clock.pending()).toBe(0);
  });

  it("responses to unknown requests, duplicate responses and frames without an id have no effect", () => {
    const { channel, receive, success, lines } = open();
    void channel.request({ subtype: "interrupt" });
    success("no-such-request");
    success(lines[0]?.["request_id"]);
    success(lines[0]?.["request_id"]);
    receive({ type: "control_response" });
    receive({ type: "control_request", request: {} });
    receive({ type: "keep_alive" });
    expect(lines).toHaveLength(1);
  });
});

describe("requests from the CLI", () => {
  it("are answered with their ids, concurrently and in any order", async () => {
    const finish = new Map<unknown, () => void>();
    const { ask, lines } = open(
      (request) => new Promise((resolve) => finish.set(request["n"], () => resolve({ n: request["n"] }))),
    );
    ask("one", { n: 1 });
    ask("two", { n: 2 });
    finish.get(2)?.();
    await flush();
    finish.get(1)?.();
    await flush();
    expect(lines.map((line) => line["response"])).toEqual([
      { subtype: "success", request_id: "two", response: { n: 2 } },
      { subtype: "success", request_id: "one", response: { n: 1 } },
    ]);
  });

  it("that cannot be answered get an error", async () => {
    const { ask, lines } = open(async () => {
      throw new Error("Unsupported control request subtype: elicitation");
    });
    ask("x", { subtype: "elicitation" });
    await flush();
    expect(lines).toMatchObject([{ response: { subtype: "error", request_id: "x", error: /elicitation/ } }]);
  });

  it("that are cancelled are aborted and not answered", async () => {
    const signals: AbortSignal[] = [];
    const { ask, receive, lines } = open(
      (_, signal) =>
        new Promise((resolve) => {
          signals.push(signal);
          signal.addEventListener("abort", () => resolve({ late: true }));
        }),
    );
    ask("x", { subtype: "hook_callback" });
    receive({ type: "control_cancel_request", request_id: "x" });
    await flush();
    expect(signals[0]?.aborted).toBe(true);
    expect(lines).toEqual([]);
  });

  it("I6: a question that is still open when the channel closes is answered with a denial", async () => {
    const { ask, channel, lines } = open(() => new Promise(() => undefined));
    ask("can", { subtype: "can_use_tool" });
    ask("mcp", { subtype: "mcp_message" });
    channel.close("over");
    await flush();
    expect(lines).toEqual([
      { type: "control_response", response: { subtype: "success", request_id: "can", response: { behavior: "deny" } } },
    ]);
  });

  it("report when responses are pending and when none are", async () => {
    const finish: (() => void)[] = [];
    const { ask, busy, channel } = open(() => new Promise((resolve) => finish.push(() => resolve({}))));
    ask("one", {});
    ask("two", {});
    expect(channel.isBusy).toBe(true);
    for (const one of finish) one();
    await flush();
    expect(busy).toEqual([true, false]);
  });

  it("more than a thousand pending requests are rejected, not queued", async () => {
    const answer = vi.fn(() => new Promise<JsonRecord>(() => undefined));
    const { ask, lines } = open(answer);
    for (let n = 0; n < 1002; n += 1) ask(`r${n}`, {});
    await flush();
    expect(answer).toHaveBeenCalledTimes(1000);
    expect(lines).toHaveLength(2);
  });
});
