// The workloads of PERFORMANCE.md as data. `kind` names how a sample is taken (samples.mjs), `must` and `goal` are the
// targets, and `judge` is what they apply to:
//   ratio  ours divided by the floor of the same round (the default)
//   over   milliseconds of ours beyond the floor of the same round
//   ms     milliseconds of ours alone
// `by` is "cpu" (the default) or "wall". `note` is printed below the table.
import { bodies, claudeCode, expectCalls, expectLoop, expectText } from "./bodies.mjs";

const MEGABYTE = 1024 * 1024;

const text = (title, api, count, must, goal) => ({
  title,
  kind: "task",
  task: `${api}-text`,
  path: `/${api}/text/${count}`,
  warm: `/${api}/text/500`,
  expect: expectText(count),
  unit: count,
  must,
  goal,
});
const calls = (title, api, number, count, must, goal) => ({
  title,
  kind: "task",
  task: `${api}-calls`,
  path: `/${api}/calls/${number}x${count}`,
  warm: `/${api}/calls/5x20`,
  expect: expectCalls(number, count),
  unit: number * count,
  must,
  goal,
});
const lines = (title, count, must, goal) => ({
  title,
  kind: "task",
  task: "cli-text",
  file: `text-${count}`,
  make: () => claudeCode.text(count),
  expect: expectText(count),
  unit: count,
  must,
  goal,
});
const huge = (title, megabytes, must, goal) => ({
  title,
  kind: "task",
  task: "cli-huge",
  file: `huge-${megabytes}`,
  make: () => claudeCode.huge(megabytes * MEGABYTE),
  expect: { deltas: 1, characters: megabytes * MEGABYTE },
  unit: megabytes,
  must,
  goal,
});
const loop = (title, api, turns, calls, must, goal) => ({
  title,
  kind: "task",
  task: `${api}-loop`,
  path: `/${api}/loop/${turns}x${calls}`,
  warm: `/${api}/loop/5x2`,
  expect: expectLoop(turns, calls),
  unit: turns,
  must,
  goal,
});

const READERS =
  "W8: every reader is in another process and must get every character in order, and `done`; frames are not counted, because a reader may be given neighbouring deltas merged into one.";
const sse = (title, clients, must, goal) => ({
  title,
  kind: "sse",
  sides: { floor: "sse-floor", ours: "sse-memory" },
  count: 50_000,
  clients,
  unit: 50_000 * clients,
  must,
  goal,
  note: READERS,
});

const sink = (title, task) => ({
  ...text(title, "openai", 50_000),
  sides: { floor: "ours", ours: "ours" },
  tasks: { floor: "openai-text", ours: task },
  note: "T: the floor is ours without the sink. The writer takes 1 KiB of text, or 32 KiB of JSON, per millisecond; at most 4 MiB wait for it, or the sample fails.",
});

const FAKE =
  "C: a `claude` that answers at once (a shell script), ten calls after a first one, median; the time is that to the first text. Budgets are those of S0-100: 10 ms in plain mode (5 % of 200), 50 ms in control mode (350 to 300). The floor starts the same program and does nothing but JSON.parse.";
const claude = (title, task, must, goal) => ({
  title,
  kind: "claude",
  task,
  by: "wall",
  judge: "over",
  unit: 1,
  must,
  goal,
  note: FAKE,
});

/**
 * Every turn sends the whole conversation. Warmed up with many turns, because otherwise the first ones would be all
 * warm-up.
 */
const turns = (count) => ({
  ...loop(`growth: agent loop, ${count} turns`, "openai", count, 4),
  warm: "/openai/loop/50x4",
  growth: "G3",
  growsWithBytes: true,
});

/** A workload on a body of another kind (kinds.mjs), with the target that holds on all three. */
const asKind = (kind, workload, must, goal) => {
  const title = `the same, ${kind}`;
  if (workload.path === undefined) {
    const make = () => bodies[`claude-code-${kind}`].text(workload.unit);
    return {
      ...workload,
      title,
      file: `${workload.file}-${kind}`,
      make,
      expect: expectText(workload.unit, kind),
      must,
      goal,
    };
  }
  const path = workload.path.replace(/^\/\w+/, `$&-${kind}`);
  const warm = workload.warm.replace(/^\/\w+/, `$&-${kind}`);
  const expect = workload.task.endsWith("-text") ? expectText(workload.unit, kind) : workload.expect;
  return { ...workload, title, path, warm, expect, must, goal };
};
const inAllKinds = (name, workload, must, goal) => ({
  [name]: workload,
  [`${name}-real`]: asKind("real", workload, must, goal),
  [`${name}-hostile`]: asKind("hostile", workload, must),
});

/** By name. `growth` names a series whose cost per unit must stay level. */
export const WORKLOADS = {
  ...inAllKinds("W1", text("OpenAI text, 50 000 deltas", "openai", 50_000, 1.0, 0.6), 1.0, 0.6),
  ...inAllKinds("W1a", text("Anthropic text, 50 000 deltas", "anthropic", 50_000, 1.0, 0.65), 1.0, 0.65),
  ...inAllKinds("W1g", text("Gemini text, 50 000 deltas", "gemini", 50_000, 1.0, 0.75), 1.0, 0.75),
  ...inAllKinds("W2", calls("OpenAI tool input, 200 calls × 100 fragments", "openai", 200, 100, 1.1, 0.75), 1.1, 0.75),
  ...inAllKinds(
    "W2a",
    calls("Anthropic tool input, 200 calls × 100 fragments", "anthropic", 200, 100, 1.1, 0.8),
    1.1,
    0.8,
  ),
  W3: loop("agent loop (OpenAI), 100 turns × 4 calls", "openai", 100, 4, 1.0, 0.6),
  W3a: loop("agent loop (Anthropic), 100 turns × 4 calls", "anthropic", 100, 4, 1.0, 0.6),
  ...inAllKinds("W4", lines("Claude Code stream, 100 000 partial-message lines", 100_000, 1.4, 1.0), 1.4, 1.0),
  // Held until all of them are open, then sent to all in paced slices, each event a separate chunk.
  W5: {
    ...text("500 streams at once × 200 deltas", "openai", 200, 0.9, 0.65),
    path: "/openai/together/200x500",
    times: 500,
    unit: 100_000,
  },
  // A process that imports and ends, compared with one that only ends.
  W6: {
    title: "cold import of the root",
    kind: "import",
    imports: { floor: [], ours: ["millrace"] },
    unit: 1,
    must: 2.5,
    goal: 1.7,
  },
  "W6-cold": {
    title: "cold process to the first delta",
    kind: "first",
    task: "openai-text",
    path: "/openai/text/10",
    calls: 0,
    unit: 1,
    must: 1.2,
    goal: 0.8,
  },
  "W6-warm": {
    title: "warm call to the first delta",
    kind: "first",
    task: "openai-text",
    path: "/openai/text/10",
    calls: 40,
    by: "wall",
    judge: "ms",
    unit: 1,
    must: 2,
    goal: 1,
    note: "W6-warm: the median of the last half of 40 calls, one after the other.",
  },
  W7: huge("one 8 MB NDJSON line", 8, 1.3, 1.1),
  "W8-1": sse("50 000 events to server-sent events, 1 reader", 1, 2.5, 1.5),
  "W8-50": sse("50 000 events to server-sent events, 50 readers", 50, 2.5, 1.5),
  "W8-sqlite": {
    ...sse("the same for 1 reader, stored in SQLite; the floor is the memory store", 1),
    sides: { floor: "sse-memory", ours: "sse-sqlite" },
  },
  "S-version": {
    title: "start-up: millrace --version, to its end",
    kind: "program",
    args: ["--version"],
    until: "end",
    unit: 1,
    note: "S: the floor is `node -e 0`. CPU time is that of the whole process.",
  },
  "S-run": {
    title: "start-up: first event of millrace run --json, offline model",
    kind: "program",
    args: ["run", "--json", "--backend", "offline", "What is 25 + 17?"],
    until: "line",
    unit: 1,
  },
  "C-plain": claude("Claude Code, plain mode, to the first text", "plain", 10, 5),
  "C-kept": claude("the same, a backend that is kept for all runs", "kept", 10, 5),
  "C-control": claude("Claude Code, control mode, to the first text", "control", 50, 15),
  "C-turn": claude("Claude Code, second turn of a warm session", "turn", undefined, 5),
  "T-plain": sink("W1 through the terminal sink, slow writer", "openai-text-terminal"),
  "T-markdown": sink("the same, Markdown shown", "openai-text-markdown"),
  "T-json": sink("W1 through the NDJSON sink, slow writer", "openai-text-ndjson"),
  R: {
    title: "explain of a route with hooks and tools",
    kind: "explain",
    judge: "ms",
    unit: 1,
    must: 0.1,
    goal: 0.02,
  },
  "G1-10k": { ...text("growth: OpenAI text, 10 000 deltas", "openai", 10_000), growth: "G1" },
  "G1-250k": { ...text("growth: OpenAI text, 250 000 deltas", "openai", 250_000), growth: "G1" },
  "G2-1k": { ...calls("growth: one call of 1 000 fragments", "openai", 1, 1_000), growth: "G2" },
  "G2-16k": { ...calls("growth: one call of 16 000 fragments", "openai", 1, 16_000), growth: "G2" },
  "G3-25": turns(25),
  "G3-200": turns(200),
  "G7-1": { ...huge("growth: one 1 MB line", 1), growth: "G7" },
  "G7-9": { ...huge("growth: one 9 MB line", 9), growth: "G7" },
};
