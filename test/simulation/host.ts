import { HANDOFF_TOOL } from "#agents";
import { createEmulator, type EmulatorScript } from "#emulator";
import { createSeededRandom, type VirtualClock } from "#testing";
import type { Dice } from "./dice.ts";

type Rule = EmulatorScript["rules"][number];
type Fault = NonNullable<Rule["fault"]>;

/** A model host on the virtual clock, and whether it can bring a run to a good end at all. */
export interface SimulatedHost {
  readonly fetch: ReturnType<typeof createEmulator>["fetch"];
  /** Every reply is cut or refused, however often it is asked. */
  readonly isHopeless: boolean;
}

/** Creates a host that plays a few turns of tool calls and text, with bytes cut and delayed, and with faults. */
export function createSimulatedHost(dice: Dice, clock: VirtualClock, tools: readonly string[]): SimulatedHost {
  const isHopeless = dice.percent(15);
  const rules: Rule[] = [];
  const turns = dice.upTo(3);
  for (let turn = 0; turn < turns; turn += 1) {
    const toolCalls = Array.from({ length: dice.upTo(3) }, () => callOf(dice, tools));
    const reply = { text: `Turn ${turn} says a few words.`, ...(toolCalls.length > 0 && { toolCalls }) };
    rules.push({ match: { times: 1 }, reply, ...faultOf(dice, isHopeless) });
  }
  rules.push({ reply: { text: "All is done." }, ...faultOf(dice, isHopeless) });
  const emulator = createEmulator({ clock, random: createSeededRandom(dice.upTo(1_000_000)), script: { rules } });
  return { fetch: emulator.fetch, isHopeless };
}

/** Mostly a tool of ours; now and then one whose arguments are cut, or a handoff. */
function callOf(dice: Dice, tools: readonly string[]) {
  if (dice.percent(10)) return { name: HANDOFF_TOOL, input: { to: "second", message: "Go on." } };
  if (dice.percent(5)) return { name: dice.pick(tools), json: '{"n":' };
  return { name: dice.pick(tools), input: { n: dice.upTo(9) } };
}

function faultOf(dice: Dice, isHopeless: boolean): { readonly fault?: Fault } {
  const pace: Fault = { pieceBytes: 1 + dice.upTo(200), ...(dice.percent(50) && { slowMs: dice.upTo(2000) }) };
  if (isHopeless) return { fault: { ...pace, ...dice.pick<Fault>(CUTS) } };
  if (!dice.percent(35)) return { fault: pace };
  // Goes wrong once or twice, then right.
  return { fault: { ...pace, ...dice.pick<Fault>([...CUTS, ...PASSING]), times: 1 + dice.upTo(1) } };
}

/** Replies without their positive end. */
const CUTS: readonly Fault[] = [
  { noEnd: true },
  { cutAfterEvents: 1 },
  { cutAfterEvents: 3 },
  { cutAfterBytes: 150 },
  { resetAfterEvents: 2 },
  { stallAfterEvents: 2 },
  { errorEventAfterEvents: 2 },
];

const PASSING: readonly Fault[] = [
  { status: 429, retryAfter: 1 },
  { status: 503 },
  { status: 500 },
  { status: 401 },
  { stallBeforeHeaders: true },
  { malformedFrameAfterEvents: 1 },
  { invalidUtf8AfterEvents: 1 },
];
