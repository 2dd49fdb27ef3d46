import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent, Message } from "#domain";
import type { EmulatorScript } from "#emulator";
import { startRun } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { add, BACKENDS, createTestWorld, outline, runToEnd } from "./model-backends.ts";

const doneOf = (log: readonly AgentEvent[]) => {
  const last = log.at(-1);
  if (last?.type !== "done") throw new Error("no done");
  return last.result;
};

describe.each(BACKENDS)("S2-3 S3-6 S3-7: %s", (backend) => {
  it("AT-53 S2-16: the same program gives the same outline on every backend", async () => {
    const place = createTestWorld();
    const log = await runToEnd(backend, "What is 25 + 17?", { tools: [add] }, place);
    expect(outline(log)).toEqual([
      "start",
      "message user",
      "text-delta",
      "tool-input-delta",
      "message assistant tool-use",
      'tool-call add {"a":25,"b":17}',
      "tool-result add 42",
      "text-delta",
      "message assistant end-turn",
      "result success",
      "done success",
    ]);
    const result = doneOf(log);
    expect(result.text).toContain("42");
    expect(result.usage.inputTokens).toBeGreaterThan(0);
    expect(result.usage.outputTokens).toBeGreaterThan(0);
    expect(result.turns).toBe(2);
    // One request for each reply: the loop is ours, not the host's.
    expect(place.emulator.requests).toHaveLength(2);
  });

  it("AT-48: several calls in one turn are one assistant message and one block of results in call order", async () => {
    const script: EmulatorScript = {
      rules: [
        {
          match: { turn: 0 },
          reply: { text: "Three.", toolCalls: [1, 2, 3].map((n) => ({ name: "add", input: { a: n, b: n } })) },
        },
        { reply: { text: "done" } },
      ],
    };
    for (const parallelToolCalls of [true, false]) {
      const place = createTestWorld(script);
      const log = await runToEnd(backend, "go", { tools: [add], parallelToolCalls }, place);
      // The server is strict: a transcript it would not take ends the run with an error.
      expect(doneOf(log).status).toBe("success");
      const results = log.filter((event) => event.type === "tool-result").map((event) => event.output);
      expect(results).toEqual([2, 4, 6]);
    }
  });

  it("S2-33: instructions are sent with every request and never become part of the transcript", async () => {
    const place = createTestWorld();
    const log = await runToEnd(backend, "What is 1 + 2?", { tools: [add], instructions: "Speak plainly." }, place);
    expect(JSON.stringify(doneOf(log).messages)).not.toContain("Speak plainly.");
    const bodies = place.emulator.requests.map((request) => JSON.stringify(request.body));
    expect(bodies).toHaveLength(2);
    expect(bodies.every((body) => body.split("Speak plainly.").length === 2)).toBe(true);
  });

  it("a conversation continues on every other backend, without the thinking of other vendors", async () => {
    const place = createTestWorld();
    const first = doneOf(await runToEnd(backend, "What is 25 + 17?", { tools: [add], thinkingTokens: 2048 }, place));
    expect(first.status).toBe("success");
    for (const other of BACKENDS) {
      const second = doneOf(
        await runToEnd(other, [...first.messages, { role: "user", text: "What is 2 + 2?" }], { tools: [add] }, place),
      );
      expect(second).toMatchObject({ status: "success", text: expect.stringContaining("4") });
      expect(second.messages.length).toBe(first.messages.length + 4);
    }
  });

  it("images in messages are accepted", async () => {
    const place = createTestWorld({ rules: [{ reply: { text: "A dot." } }] });
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    const image: Message["blocks"] = [
      { type: "text", text: "What is this?" },
      { type: "image", mediaType: "image/png", data },
    ];
    const result = doneOf(await runToEnd(backend, [{ role: "user", blocks: image }], {}, place));
    expect(result).toMatchObject({ status: "success", text: "A dot." });
    expect(JSON.stringify(place.emulator.requests[0]?.body)).toContain(data);
  });

  it.each([
    ["wrong key", { status: 401 }, "provider-auth"],
    ["forbidden", { status: 403 }, "provider-auth"],
    ["bad request", { status: 400 }, "provider-invalid-request"],
    ["no such model", { status: 404 }, "provider-invalid-request"],
    ["too large", { status: 413 }, "provider-invalid-request"],
    ["rate limit", { status: 429, retryAfter: 1 }, "provider-rate-limited"],
    ["server error", { status: 500 }, "provider-error"],
    [
      "bad gateway, an HTML page",
      { status: 502, body: "<html>Bad gateway</html>", contentType: "text/html" },
      "provider-error",
    ],
    ["unavailable", { status: 503 }, "provider-overloaded"],
    ["overloaded", { status: 529 }, "provider-overloaded"],
    ["a redirect", { status: 302, body: "" }, "provider-error"],
    ["empty answer", { cutAfterBytes: 0 }, "stream-cut"],
    ["cut in the first frame", { cutAfterBytes: 20 }, "stream-cut"],
    ["cut in the middle", { cutAfterEvents: 3 }, "stream-cut"],
    ["no end signal", { noEnd: true }, "stream-cut"],
    ["connection reset before the answer", { resetAfterBytes: 0 }, "provider-unreachable"],
    ["connection reset in the middle", { resetAfterEvents: 3 }, "provider-unreachable"],
    ["silence before the answer", { stallBeforeHeaders: true }, "stalled"],
    ["silence in the middle", { stallAfterEvents: 3 }, "stalled"],
    ["an error event in the middle", { errorEventAfterEvents: 3 }, /^provider-/],
    ["an error event before anything else", { errorEventAfterEvents: 0 }, /^provider-/],
    ["a request that cannot be processed", { status: 422 }, "provider-invalid-request"],
    ["a request that took too long there", { status: 408 }, "provider-error"],
    ["gateway timeout", { status: 504, body: "upstream timed out" }, "provider-error"],
    [
      "a login page with status 200",
      { status: 200, body: "<html><title>Log in</title></html>", contentType: "text/html; charset=utf-8" },
      "provider-invalid-request",
    ],
    ["JSON where a stream should be", { status: 200, body: { ok: true } }, "stream-cut"],
    ["an empty body with status 200", { status: 200, body: "" }, "stream-cut"],
    ["silence within a frame", { stallAfterBytes: 30 }, "stalled"],
    ["connection reset within a frame", { resetAfterBytes: 30 }, "provider-unreachable"],
    ["a cut in small pieces", { cutAfterBytes: 200, pieceBytes: 1 }, "stream-cut"],
  ] as const)("R9: %s is a terminal error, never a success and never a tool", async (_, fault, code) => {
    const reply = { text: "Let me add these numbers.", toolCalls: [{ name: "add", input: { a: 25, b: 17 } }] };
    const place = createTestWorld({ rules: [{ reply, fault }] });
    let ran = 0;
    const counted = tool("add", "Add", { a: "number", b: "number" }, () => {
      ran += 1;
    });
    const log = await runToEnd(backend, "go", { tools: [counted], limits: { turns: 1 } }, place);
    const result = doneOf(log);
    expect(result.status).toBe("error");
    expect(result.error?.code).toMatch(code instanceof RegExp ? code : new RegExp(`^${code}$`));
    expect(result.error?.message).not.toBe("");
    expect(ran).toBe(0);
    // One retry layer: at most four attempts, and none once something was shown.
    expect(place.emulator.requests.length).toBeLessThanOrEqual(4);
    if (log.some((event) => event.type === "text-delta")) expect(place.emulator.requests).toHaveLength(1);
  });

  it("R9 I4: cut at every event boundary a reply is never a success and never a partial tool", async () => {
    const reply = { text: "Let me add these.", toolCalls: [{ name: "add", input: { a: 25, b: 17 } }] };
    const whole = await runToEnd(
      backend,
      "go",
      { tools: [add], limits: { turns: 1 } },
      createTestWorld({ rules: [{ reply }] }),
    );
    expect(doneOf(whole).subtype).toBe("error_max_turns");
    let cuts = 0;
    for (let events = 0; events < 200; events += 1) {
      const place = createTestWorld({ rules: [{ reply, fault: { cutAfterEvents: events } }] });
      let ran = 0;
      const counted = tool("add", "Add", { a: "number", b: "number" }, () => {
        ran += 1;
      });
      const log = await runToEnd(backend, "go", { tools: [counted], limits: { turns: 1 }, retry: false }, place);
      if (ran === 1) break;
      expect(doneOf(log)).toMatchObject({ status: "error", toolCalls: [] });
      cuts += 1;
    }
    expect(cuts).toBeGreaterThan(3);
  });

  it.each(["invalidUtf8AfterEvents", "malformedFrameAfterEvents"] as const)(
    "R9 I4: with %s at any position a tool runs with exactly the arguments the model wrote, or not at all",
    async (fault) => {
      const input = { a: 1234567, b: 7654321 };
      const reply = { text: "Let me add these.", toolCalls: [{ name: "add", input }] };
      let refused = 0;
      for (let events = 0; events < 25; events += 1) {
        const place = createTestWorld({ rules: [{ reply, fault: { [fault]: events } }] });
        const ran: unknown[] = [];
        const counted = tool("add", "Add", { a: "number", b: "number" }, (given) => {
          ran.push(given);
        });
        await runToEnd(backend, "go", { tools: [counted], limits: { turns: 1 }, retry: false }, place);
        if (ran.length === 0) refused += 1;
        else expect(ran).toEqual([input]);
      }
      // Gemini sends a call in one piece: a bad frame beside it takes nothing from it.
      expect(refused > 0).toBe(!backend.startsWith("google"));
    },
  );

  it("R18: a temporary failure before the first token is retried and succeeds", async () => {
    const place = createTestWorld({ rules: [{ fault: { status: 529, times: 2 } }] });
    const log = await runToEnd(backend, "What is 25 + 17?", { tools: [add] }, place);
    expect(doneOf(log)).toMatchObject({ status: "success" });
    expect(log.filter((event) => event.type === "notice" && event.kind === "retry")).toHaveLength(2);
  });

  it("the cost counter includes the usage of a reply that was cut and retried, as far as the host reported it", async () => {
    const cut = { reply: { text: "one two three four" }, fault: { cutAfterEvents: 4, times: 1 } };
    const place = createTestWorld({ rules: [cut] });
    const whole = doneOf(await runToEnd(backend, "go", {}, createTestWorld({ rules: [{ reply: cut.reply }] })));
    const log = await runToEnd(backend, "go", { retry: { afterFirstToken: true } }, place);
    expect(doneOf(log)).toMatchObject({ status: "success", text: "one two three four" });
    const told = log.filter((event) => event.type === "notice" && event.kind === "usage");
    // OpenAI counts at the end of a reply only: what a cut one used, nobody knows.
    expect(told).toHaveLength(backend.startsWith("open") ? 0 : 1);
    const twice = told.length > 0 ? 2 : 1;
    expect(doneOf(log).usage.inputTokens).toBe((whole.usage.inputTokens ?? 0) * twice);
  });

  it("R10: after an abort at any point the conversation continues, and the strict server accepts it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(14), fc.boolean(), async (seq, atTool) => {
        const place = createTestWorld();
        const hanging = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) =>
          atTool ? new Promise(() => undefined) : a + b,
        );
        const run = startRun(backend, "What is 25 + 17?", { tools: [hanging] }, place.world);
        const log: AgentEvent[] = [];
        run.on("*", (event) => {
          log.push(event);
          if (event.seq === seq || (atTool && event.type === "tool-call")) void run.abort();
        });
        const aborted = await run.result();
        assertRunLog(log);
        const next = await runToEnd(
          backend,
          [...aborted.messages, { role: "user", text: "What is 2 + 3?" }],
          { tools: [add] },
          place,
        );
        expect(doneOf(next)).toMatchObject({ status: "success", text: expect.stringContaining("5") });
      }),
      { numRuns: 40 },
    );
  });
});
