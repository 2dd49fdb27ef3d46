import { describe, expect, it } from "vitest";
import {
  type CompareOptions,
  compareIn,
  type CompareProgress,
  describeReport,
  JOURNAL_FILE,
  writeHtmlReport,
} from "#compare";
import { createEmulator, type EmulatorScript } from "#emulator";
import { systemWorld, type World } from "#runtime";
import { createMemoryFiles, createScriptedBackend, createSeededRandom } from "#testing";
import { byEffort } from "../effort.ts";
import { type Quality, scoresOf, scriptOf, writeDocument } from "./documents.ts";

const BEST: Quality = { sections: 13, measurable: 4, actors: 4, scenarios: 4, explained: 4 };
const GOOD: Quality = { sections: 12, measurable: 3, actors: 4, scenarios: 3, explained: 3 };
const POOR: Quality = { sections: 6, measurable: 1, actors: 2, scenarios: 1, explained: 1 };

const PROMPTS = ["alpha", "bravo", "carol", "delta", "echo"];
const KEYS = { ANTHROPIC_API_KEY: "offline", OPENAI_API_KEY: "offline", GEMINI_API_KEY: "offline" };

/** A world whose only host is the offline model server. */
function worldOf(script?: EmulatorScript): World {
  const emulator = createEmulator(script === undefined ? {} : { script });
  return { ...systemWorld(), fetch: emulator.fetch, files: createMemoryFiles(), env: KEYS };
}

describe("AT-65: three backends, five prompts, answers of known quality", () => {
  const qualities: Readonly<Record<string, readonly Quality[]>> = {
    "claude-sonnet-4-5": [POOR, POOR, POOR, POOR, { ...POOR, sections: 5 }],
    "gpt-5": [BEST, BEST, BEST, GOOD, GOOD],
    "gemini-2.5-pro": [POOR, { ...POOR, sections: 7 }, POOR, POOR, POOR],
  };
  const usage = { inputTokens: 1000, outputTokens: 500 };
  const script = scriptOf(
    Object.fromEntries(
      Object.entries(qualities).map(([model, list]) => [
        model,
        list.map((quality, index) => ({ prompt: PROMPTS[index] ?? "", text: writeDocument(quality), usage })),
      ]),
    ),
  );
  const targets = [
    { name: "api", target: "anthropic/claude-sonnet-4-5" },
    { name: "sdk", target: "openai/gpt-5" },
    { name: "cli", target: "google/gemini-2.5-pro" },
  ];
  const options: CompareOptions = { prompts: PROMPTS, targets };
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

  it("S3-36, S3-38: the four metrics, cost, tokens and sample sizes are those computed by hand", async () => {
    const report = await compareIn(options, worldOf(script));
    expect(report).toMatchObject({ isComplete: true, missing: 0, baseline: "api", repeat: 1 });
    expect(report.dimensions).toEqual(["sections", "acceptance criteria", "error scenarios", "consistency"]);
    for (const [index, [model, list]] of Object.entries(qualities).entries()) {
      const target = report.targets[index];
      const byHand = [0, 1, 2, 3].map((dimension) => meanOf(list.map((quality) => scoresOf(quality)[dimension] ?? 0)));
      const found = report.dimensions.map((dimension) => target?.scores[dimension]?.mean ?? Number.NaN);
      expect(found.map(round), model).toEqual(byHand.map(round));
      expect(target).toMatchObject({ answers: 5, failed: 0, inputTokens: { mean: 1000 }, outputTokens: { mean: 500 } });
      expect(target?.quality).toBeCloseTo(meanOf(byHand), 10);
      const own = report.samples.filter((sample) => sample.target === target?.name);
      expect(target?.ms?.mean).toBeCloseTo(meanOf(own.map(({ ms }) => ms)), 10);
    }
    // Dollars per million tokens: 3 and 15, 1.25 and 10, 1.25 and 10.
    expect(report.targets.map(({ costUsd }) => round(costUsd?.mean ?? 0))).toEqual(
      [0.0105, 0.00625, 0.00625].map(round),
    );
    expect(report.decision.sampleSize).toEqual({ api: 5, sdk: 5, cli: 5 });
  });

  it("F-F: the report fits its terminal: a table where there is room, one target after the other where there is none", async () => {
    const report = await compareIn(options, worldOf(script));
    const wide = describeReport(report, 80).split("\n");
    expect(wide[0]?.trim().split(/ +/)).toEqual(["api", "sdk", "cli"]);
    expect(wide).toEqual(describeReport(report).split("\n"));
    const narrow = describeReport(report, 20).split("\n");
    const ofApi = (row: number): string | undefined => wide[row]?.trim().split(/ {2,}/)[1];
    expect(narrow.slice(0, 4)).toEqual(["api", "  answers: 5", `  quality: ${ofApi(2)}`, `    sections: ${ofApi(3)}`]);
    expect(narrow.filter((line) => /^\w/.test(line)).slice(0, 3)).toEqual(["api", "sdk", "cli"]);
    expect(narrow.slice(-3)).toEqual(wide.slice(-3));
  });

  it("S3-38: each sample has its own tokens, cost and time", async () => {
    let now = 1_000_000;
    const emulator = createEmulator({ script });
    const world: World = {
      ...worldOf(script),
      clock: { ...systemWorld().clock, now: () => now },
      fetch: (request) => {
        now += 250;
        return emulator.fetch(request);
      },
    };
    const { samples } = await compareIn({ ...options, targets: targets.slice(0, 2) as never, concurrency: 1 }, world);
    for (const [name, dollars] of [["api", 0.0105] as const, ["sdk", 0.00625] as const]) {
      const own = samples.filter(({ target }) => target === name);
      expect(own).toHaveLength(5);
      for (const sample of own) expect(sample).toMatchObject({ ms: 250, usage, costUsd: expect.closeTo(dollars, 10) });
    }
  });

  it("S3-37: the one that is more than 20 % better is adopted, and the one it beats is dropped", async () => {
    const { decision, pairs } = await compareIn(options, worldOf(script));
    expect(decision).toMatchObject({ verdict: "adopt", target: "sdk", drop: ["cli"] });
    expect(decision.reasons[0]).toMatch(/^Adopt sdk: its quality is \d+(\.\d)? % higher than that of api\.$/);
    // Five against five without overlap: p = 2/252, and Holm's factor for four dimensions is 4.
    const tested = pairs.find(({ target, other }) => target === "sdk" && other === "api")?.dimensions;
    expect(tested?.map(({ p }) => round(p))).toEqual(four(round(2 / 252)));
    expect(tested?.map(({ adjustedP }) => round(adjustedP))).toEqual(four(round(8 / 252)));
    expect(pairs.find(({ target }) => target === "cli")).toMatchObject({
      isBetter: false,
      dimensions: four({ verdict: "no difference" }),
    });
  });

  it("S3-37: a better one that costs too much is not adopted", async () => {
    const { decision } = await compareIn(
      { ...options, targets: [targets[2], targets[1]] as never, rule: { costOverhead: 0 } },
      worldOf(script),
    );
    expect(decision.verdict).toBe("adopt");
    const dear = scriptOf({
      "gemini-2.5-pro": PROMPTS.map((prompt) => ({ prompt, text: writeDocument(POOR), usage })),
      "claude-sonnet-4-5": PROMPTS.map((prompt) => ({ prompt, text: writeDocument(BEST), usage })),
    });
    const report = await compareIn({ ...options, targets: [targets[2], targets[0]] as never }, worldOf(dear));
    expect(report.decision).toMatchObject({ verdict: "stay", target: "cli" });
    expect(report.decision.reasons.join(" ")).toContain("An answer costs 68 % more, and at most 50 % is allowed.");
  });

  it("S3-37: no gain means to stay, and no difference is called so", async () => {
    const { decision } = await compareIn({ ...options, targets: [targets[0], targets[2]] as never }, worldOf(script));
    expect(decision).toMatchObject({ verdict: "stay", target: "api", drop: [] });
    expect(decision.reasons.join(" ")).toContain("No difference between cli and api was found.");
    // The verdict is said once, in front of its reasons.
    expect(decision.reasons.join(" ")).not.toContain("Stay with");
  });

  it("too few answers for any difference decide nothing, and the remedy is named", async () => {
    const { decision } = await compareIn(
      { ...options, prompts: PROMPTS.slice(0, 3), targets: [targets[0], targets[1]] as never, repeat: 1 },
      worldOf(script),
    );
    expect(decision.verdict).toBe("undecided");
    expect(decision.reasons.join(" ")).toContain(
      "With 3 and 3 answers and 4 dimensions no difference can be significant.",
    );
  });
});

const TRIALS = byEffort({ quick: 10, full: 100 });

describe(`S3-35 … 37: ${TRIALS} seeded trials`, () => {
  const trial = async (seed: number, gains: { readonly one: number; readonly other: number }) => {
    const random = createSeededRandom(seed);
    const part = (most: number, level: number) =>
      Math.max(0, Math.min(most, Math.round(most * (level + (random.next() - 0.5) * 0.5))));
    const draw = (level: number): Quality => ({
      sections: part(13, level),
      measurable: part(4, level),
      actors: part(4, level),
      scenarios: part(4, level),
      explained: part(4, level),
    });
    const list = (level: number) =>
      Array.from({ length: 8 }, (_, index) => ({
        prompt: PROMPTS[index % 4] ?? "",
        text: writeDocument(draw(level)),
      }));
    const script = scriptOf({ one: list(gains.one), other: list(gains.other) });
    const report = await compareIn(
      { prompts: PROMPTS.slice(0, 4), repeat: 2, targets: ["openai/one", "openai/other"], seed },
      worldOf(script),
    );
    return report.decision.verdict;
  };

  it("a planted difference is found in at least 95 of 100", async () => {
    let found = 0;
    for (let seed = 1; seed <= TRIALS; seed += 1)
      if ((await trial(seed, { one: 0.4, other: 0.8 })) === "adopt") found += 1;
    expect(found).toBeGreaterThanOrEqual(0.95 * TRIALS);
  });

  it("equal backends are called equal in at least 95 of 100", async () => {
    let equal = 0;
    for (let seed = 1; seed <= TRIALS; seed += 1)
      if ((await trial(seed, { one: 0.6, other: 0.6 })) === "stay") equal += 1;
    expect(equal).toBeGreaterThanOrEqual(0.95 * TRIALS);
  });
});

describe("what is kept", () => {
  const targets = ["openai/one", "openai/other"];
  const folder = "/comparison";
  const text = writeDocument(GOOD);

  it("an interrupted comparison continues where it was, and gives the report of one that was not interrupted", async () => {
    const world = worldOf({ rules: [{ reply: { text } }] });
    const abort = new AbortController();
    const half = await compareIn(
      {
        prompts: PROMPTS,
        targets,
        folder,
        concurrency: 1,
        signal: abort.signal,
        onProgress: ({ finished }) => finished === 4 && abort.abort(),
      },
      world,
    );
    expect(half).toMatchObject({ isComplete: false, missing: 6, decision: { verdict: "undecided" } });
    const seen: CompareProgress[] = [];
    const whole = await compareIn({ prompts: PROMPTS, targets, folder, onProgress: (one) => seen.push(one) }, world);
    expect(whole).toMatchObject({ isComplete: true, missing: 0 });
    expect(seen[0]).toMatchObject({ phase: "runs", finished: 4, kept: 4, total: 10 });
    expect(seen.at(-1)).toMatchObject({ finished: 10, failed: 0 });
    expect(whole.samples.map(({ id }) => id)).toHaveLength(new Set(whole.samples.map(({ id }) => id)).size);
  });

  it("a last line that was cut off while writing is dropped, and requested again", async () => {
    const world = worldOf({ rules: [{ reply: { text } }] });
    await compareIn({ prompts: PROMPTS, targets, folder }, world);
    const path = `${folder}/${JOURNAL_FILE}`;
    const bytes = await world.files.read(path);
    await world.files.write(path, bytes.slice(0, bytes.length - 40));
    const seen: CompareProgress[] = [];
    await compareIn({ prompts: PROMPTS, targets, folder, onProgress: (one) => seen.push(one) }, world);
    expect(seen[0]).toMatchObject({ finished: 9 });
    const lines = new TextDecoder()
      .decode(await world.files.read(path))
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toHaveLength(1 + 10);
  });

  it("runs that failed are retried, those that succeeded are not", async () => {
    let isDown = true;
    const world = worldOf({ rules: [{ reply: { text } }] });
    const fetch: World["fetch"] = async (request) => {
      const body = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body);
      if (isDown && body.includes('"other"')) return { status: 400, headers: {}, body: emptyBody() };
      return await world.fetch(request);
    };
    const first = await compareIn({ prompts: PROMPTS, targets, folder }, { ...world, fetch });
    expect(first.targets[1]).toMatchObject({ answers: 0, failed: 5 });
    expect(first.targets[1]?.excluded).toMatch(/^all 5 runs failed: /);
    expect(first.decision).toMatchObject({ verdict: "undecided" });
    expect(first.decision.reasons.join(" ")).toContain("openai/other is excluded: all 5 runs failed");
    isDown = false;
    const second = await compareIn({ prompts: PROMPTS, targets, folder }, { ...world, fetch });
    expect(second.targets[1]).toMatchObject({ answers: 5, failed: 0 });
  });

  it("another target may be added to existing results; other prompts need another folder", async () => {
    const world = worldOf({ rules: [{ reply: { text } }] });
    await compareIn({ prompts: PROMPTS, targets, folder }, world);
    const seen: CompareProgress[] = [];
    const onProgress = (one: CompareProgress): void => void seen.push(one);
    await compareIn({ prompts: PROMPTS, targets: [...targets, "openai/third"], folder, onProgress }, world);
    expect(seen[0]).toMatchObject({ kept: 10, total: 15 });
    await expect(compareIn({ prompts: ["another"], targets, folder }, world)).rejects.toThrow(
      "The folder /comparison holds another comparison: its prompts, documents or options are not the same.",
    );
  });
});

describe("the judge", () => {
  const points = (value: number) => ({
    completeness: value,
    "acceptance criteria": value,
    "error scenarios": value,
    consistency: value,
  });

  it("rates answers under letters, in random order, without names", async () => {
    const asked: string[] = [];
    const judge = createScriptedBackend([
      async function* rate(request) {
        const prompt = request.messages.map(({ blocks }) => JSON.stringify(blocks)).join("");
        asked.push(prompt);
        const best = /name=\\"([A-Z])\\">\\n# Executive summary\\n(?:(?!<\/document).)*# Glossary/.exec(prompt)?.[1];
        const rated = Object.fromEntries(["A", "B"].map((letter) => [letter, points(letter === best ? 4 : 2)]));
        yield* createScriptedBackend([{ text: JSON.stringify(rated) }]).stream(request, new AbortController().signal);
      },
    ]);
    const script = scriptOf({
      one: PROMPTS.map((prompt) => ({ prompt, text: writeDocument(POOR) })),
      other: PROMPTS.map((prompt) => ({ prompt, text: writeDocument(BEST) })),
    });
    const report = await compareIn(
      { prompts: PROMPTS, targets: ["openai/one", "openai/other"], judge: { target: judge } },
      worldOf(script),
    );
    expect(report.dimensions.at(-1)).toBe("judge");
    expect(report.targets.map(({ scores }) => scores["judge"]?.mean)).toEqual([1 / 3, 1]);
    expect(asked).toHaveLength(5);
    for (const prompt of asked) expect(prompt).not.toMatch(/openai|\bone\b|\bother\b/);
    const orders = asked.map((prompt) =>
      /name=\\"A\\">\\n# Executive summary\\n(?:(?!<\/document).)*# Glossary/.test(prompt),
    );
    expect(new Set(orders).size, "both orders occur").toBe(2);
  });

  it("one that fails is reported, and the rest of the comparison remains valid", async () => {
    const judge = createScriptedBackend([{ text: "I cannot say." }]);
    const report = await compareIn(
      { prompts: PROMPTS, targets: ["openai/one", "openai/other"], judge: { target: judge } },
      worldOf({ rules: [{ reply: { text: writeDocument(GOOD) } }] }),
    );
    expect(report.judge?.failures).toHaveLength(5);
    for (const text of [describeReport(report), writeHtmlReport(report)]) {
      expect(text.match(/The judge failed on 5 of 5 questions: /g), "each reason once").toHaveLength(1);
    }
    expect(report.targets[0]?.scores["judge"]).toBeUndefined();
    expect(report.targets[0]?.scores["sections"]?.mean).toBeCloseTo(12 / 13, 10);
  });

  it("ratings are kept", async () => {
    const judge = createScriptedBackend([{ text: JSON.stringify({ A: points(3), B: points(3) }) }]);
    const world = worldOf({ rules: [{ reply: { text: "x" } }] });
    const options = {
      prompts: PROMPTS,
      targets: ["openai/one", "openai/other"],
      judge: { target: judge },
      folder: "/c",
    };
    await compareIn(options, world);
    const before = judge.requests.length;
    const again = await compareIn(options, world);
    expect(judge.requests).toHaveLength(before);
    expect(again.targets[0]?.scores["judge"]?.mean).toBeCloseTo(2 / 3, 10);
  });
});

describe("documents, repetitions, scorers", () => {
  it("S3-35: each prompt is asked about each document, and by default until there are five answers", async () => {
    const backend = createScriptedBackend([{ text: "x" }], "seen");
    const other = createScriptedBackend([{ text: "x" }], "unseen");
    const report = await compareIn(
      {
        prompts: ["Sum it up"],
        documents: [
          { name: "a.md", text: "Text A" },
          { name: "b.md", text: "Text B" },
        ],
        targets: [
          { name: "seen", target: backend },
          { name: "unseen", target: other },
        ],
      },
      worldOf(),
    );
    expect(report).toMatchObject({ repeat: 3, documents: ["a.md", "b.md"] });
    expect(report.targets.map(({ answers }) => answers)).toEqual([6, 6]);
    const asked = JSON.stringify(backend.requests[0]?.messages);
    expect(asked).toContain("Sum it up");
    expect(asked).toContain("Text A");
  });

  it("a custom scorer replaces the built-in ones; what it throws or returns is reported with its name", async () => {
    const world = worldOf({ rules: [{ reply: { text: "four" } }] });
    const options = { prompts: PROMPTS, targets: ["openai/one", "openai/other"] };
    const score = (give: () => unknown) =>
      compareIn({ ...options, scorers: [{ name: "mine", score: give as () => number }] }, world);
    const report = await compareIn(
      {
        ...options,
        scorers: [{ name: "length", score: ({ text, result }) => (text === result.text ? text.length / 10 : 0) }],
      },
      world,
    );
    expect(report.targets[0]?.scores).toMatchObject({ length: { mean: 0.4 } });
    await expect(score(() => 2)).rejects.toThrow('The scorer "mine" gave 2. A score is a number from 0 to 1');
    await expect(score(() => Number.NaN)).rejects.toThrow('The scorer "mine" gave NaN.');
    await expect(score(() => JSON.parse("{"))).rejects.toThrow('The scorer "mine" failed: ');
  });

  it("a scorer with a mistake ends the comparison at the first answer, and nothing is requested afterwards", async () => {
    const quick = createScriptedBackend([{ text: "four" }]);
    const asked: AbortSignal[] = [];
    const slow = createScriptedBackend([
      async function* (_request, signal) {
        asked.push(signal);
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        yield* [];
      },
    ]);
    const scorers = [{ name: "mine", score: () => 2 }];
    const targets = [
      { name: "quick", target: quick },
      { name: "slow", target: slow },
    ];
    await expect(compareIn({ prompts: PROMPTS, targets, scorers }, worldOf())).rejects.toThrow(
      'The scorer "mine" gave 2.',
    );
    expect(quick.requests).toHaveLength(1);
    expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("F-F: the page of the report names every target in full, also one with a long name", async () => {
    const world = worldOf({ rules: [{ reply: { text: "four" } }] });
    const long = "anthropic/claude-sonnet-4-6-with-a-very-long-name";
    const targets = ["anthropic/claude-sonnet-4-6", long] as const;
    const page = writeHtmlReport(await compareIn({ prompts: ["a"], targets }, world));
    expect(page).toContain("</title>anthropic/claude-sonnet-4-6</text>");
    expect(page).toContain(`<title>${long}</title>`);
  });

  it.each([
    [{ prompts: [], targets: ["offline", "offline/b"] }, "prompts is empty."],
    [{ prompts: [3], targets: ["offline", "offline/b"] }, "prompts[0] is 3."],
    [{ prompts: ["a"], targets: ["offline"] }, "targets must name at least two"],
    [{ prompts: ["a"], targets: ["offline", "offline"] }, 'targets has "offline" twice.'],
    [{ prompts: ["a"], targets: ["offline", "openai/x"], repeat: 0 }, "repeat is 0."],
    [{ prompts: ["a"], targets: ["offline", "openai/x"], baseline: "c" }, 'baseline is "c".'],
    [{ prompts: ["a"], targets: ["offline", "nowhere/x"] }, "nowhere"],
    [{ prompts: ["a"], targets: ["offline", "openai/x"], judge: "deepseek/x" }, "DEEPSEEK_API_KEY"],
    [{ prompts: ["a"], targets: ["offline", "openai/x"], scorers: [] }, "scorers is empty."],
    [{ prompts: ["a"], targets: ["offline", "openai/x"], rule: { beter: 1 } }, "There is no rule.beter."],
    [{ prompts: ["a"], targets: ["offline", "openai/x"], folder: "here" }, 'folder is "here". Give an absolute path.'],
    [
      { prompts: ["a"], targets: ["offline", "openai/x"], scorer: 1 },
      "There is no option of compare called scorer. Did you mean scorers?",
    ],
    [{ prompts: ["a"], targets: ["offline", "openai/x"], documents: [{ name: "a", text: "" }] }, "documents[0]"],
  ])("mistakes are reported before any request: %j", async (options, message) => {
    await expect(compareIn(options as never, worldOf())).rejects.toMatchObject({
      name: "StartError",
      message: expect.stringContaining(message) as string,
    });
  });
});

function emptyBody(): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
  };
}

function four<Value>(value: Value): readonly Value[] {
  return Array.from({ length: 4 }, () => value);
}

function round(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}
