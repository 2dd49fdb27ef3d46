import type { AgentEvent } from "#domain";
import type { EmulatorScript } from "#emulator";
import { startRun } from "#runtime";
import { assertRunLog } from "#testing";
import { BACKENDS, createTestWorld } from "../conformance/model-backends.ts";
import { describePolicy, type Scene, type Stage } from "./suite.ts";

/** The offline model server plays the scene, in each vendor's protocol and in strict mode. */
function scriptOf({ calls = [], text = "after" }: Scene): EmulatorScript {
  const toolCalls = calls.map(({ name, input }) => ({ name, input }));
  const rules =
    calls.length === 0
      ? [{ reply: { text } }]
      : [{ match: { turn: 0 }, reply: { text: "before", toolCalls } }, { reply: { text: "after" } }];
  return { rules } as EmulatorScript;
}

function stageOf(backend: string): Stage {
  return {
    name: backend,
    async play(scene) {
      const { world, clock } = createTestWorld(scriptOf(scene));
      const run = startRun(backend, "go", scene.options, world);
      scene.onRun?.(run);
      const log: AgentEvent[] = [];
      const reading = (async () => {
        if (scene.isAlone === true) await run.done();
        for await (const event of run) log.push(event);
      })();
      while (!run.isComplete()) {
        await new Promise((resolve) => setImmediate(resolve));
        if (!run.isComplete() && clock.pending() > 0) await clock.advance(500);
      }
      await reading;
      assertRunLog(log);
      return log;
    },
  };
}

for (const backend of BACKENDS) describePolicy(stageOf(backend));
