import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTelemetry } from "#sinks";
import { CLAUDE_CODE_ROWS } from "../../src/runtime/claude-code-option-table.ts";
import type { SupportColumn } from "../../src/runtime/option-row.ts";
import { supportOf } from "../../src/runtime/option-support.ts";
import { OPTION_SUPPORT } from "../../src/runtime/option-table.ts";
import { locateRealCli, realCliHas } from "../real-cli.ts";
import { CLI_ROWS, type RealProof, RUN_ROWS, startsOf } from "./real-cli-proofs.ts";
import { openPlace, type Place, type Seen, type Start } from "./real-cli-stage.ts";

// F-C2: every option that the table lets hold on Claude Code has an effect on the real CLI, which a start without it
// does not have. A start takes seconds, so one of them carries as many options as do not disturb each other.

const ROWS: Readonly<Record<string, RealProof | { readonly shownIn: string }>> = { ...CLI_ROWS, ...RUN_ROWS };
const TABLE = { ...OPTION_SUPPORT, ...CLAUDE_CODE_ROWS } as Readonly<Record<string, Parameters<typeof supportOf>[0]>>;

/** Whether the table lets an option hold, with its conditions met by the start. */
function holds(option: string, column: SupportColumn): boolean {
  const support = supportOf(TABLE[option] as Parameters<typeof supportOf>[0], column);
  return support === "works" || (typeof support === "object" && "judge" in support);
}

/** Conditions that nothing can meet so that an effect would be seen: `"auto"` and `true` are what happens anyway. */
const WITHOUT_EFFECT = ["toolChoice", "parallelToolCalls"];

it("F-C2: every option that works on Claude Code has a proof on the real CLI", () => {
  const holding = Object.keys(TABLE).filter(
    (option) => holds(option, "claude-code (plain)") || holds(option, "claude-code (control)"),
  );
  expect(holding.filter((option) => !WITHOUT_EFFECT.includes(option) && ROWS[option] === undefined)).toEqual([]);
  expect(Object.keys(ROWS).filter((option) => !holding.includes(option))).toEqual([]);
});

// What older versions lack is refused by name, which is shown elsewhere.
describe.runIf(locateRealCli() !== undefined && realCliHas("hook-events"))("F-C2: the real Claude Code CLI", () => {
  describe.each(["plain", "control"] as const)("in %s mode", (mode) => {
    let place: Place;
    const seen = new Map<string, Seen>();
    const rows = Object.entries(ROWS).flatMap(([option, proof]) =>
      "shownIn" in proof || (proof.mode ?? mode) !== mode || !holds(option, `claude-code (${mode})`)
        ? []
        : ([[option, proof]] as const),
    );

    beforeAll(async () => {
      // So that the first run with telemetry need not wait for its library.
      await loadTelemetry();
      place = await openPlace();
      // In the order of the table: some go on with the session of the one before.
      const starts: Readonly<Record<string, Start>> = startsOf(place, mode);
      const wanted = new Set<string>(rows.flatMap(([, proof]) => [proof.in, proof.against ?? "bare"]));
      for (const [name, start] of Object.entries(starts)) {
        if (wanted.has(name)) seen.set(name, await place.play(start));
      }
    }, 600_000);
    afterAll(() => place.close());

    it.each(rows)("%s has an effect that a start without it does not have", (_, proof) => {
      const [there, elsewhere] = [proof.in, proof.against ?? "bare"].map((name) => seen.get(name) as Seen) as [
        Seen,
        Seen,
      ];
      expect(proof.shows(there, place), `in ${proof.in}: ${describeSeen(there)}`).toBe(true);
      expect(proof.shows(elsewhere, place), `without it: ${describeSeen(elsewhere)}`).toBe(false);
    });
  });
});

/** What a failure shows of a start: enough to see why. */
function describeSeen({ asked: body, result, refusal, offered, left, marks, init, requests, starts }: Seen): string {
  const { subtype, error, text, warnings } = result ?? {};
  const ids = { cwd: init["cwd"], session: init["session_id"], mode: init["permissionMode"] };
  const asked = requests.length;
  return JSON.stringify(
    {
      subtype,
      error,
      text,
      warnings,
      refusal,
      offered,
      left,
      marks,
      ids,
      asked,
      starts: starts.length,
      thinking: /"thinking":[{][^}]*[}]/.exec(body)?.[0],
    },
    null,
    1,
  ).slice(0, 6000);
}
