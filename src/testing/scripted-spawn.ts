import { checkOptionNames, type Clock, type ProcessRequest, type Spawn } from "#domain";
import { openScriptedProcess } from "./scripted-process.ts";
import { checkSteps, type SpawnCall, type SpawnStep } from "./scripted-steps.ts";

/**
 * The script of a process: steps, or a function that creates them from the request and the number of the call. If the
 * function throws, starting the process rejects with that error.
 */
export type SpawnScript = readonly SpawnStep[] | ((request: ProcessRequest, call: number) => readonly SpawnStep[]);

/** A `Spawn` that starts no process and records its calls. */
export interface ScriptedSpawn extends Spawn {
  readonly calls: readonly SpawnCall[];
}

/**
 * Creates a `Spawn` whose processes follow a script.
 *
 * @example
 * const spawn = createScriptedSpawn([{ waitForInput: "line" }, { write: '{"type":"result"}\n' }, { exit: 0 }])
 * const { stdout, exit } = await spawn({ executable: "claude", args: ["-p"], env: {} })
 * spawn.calls[0]?.args // ["-p"]
 */
export function createScriptedSpawn(script: SpawnScript, options: { readonly clock?: Clock } = {}): ScriptedSpawn {
  checkOptionNames(options, ["clock"], "createScriptedSpawn");
  if (typeof script !== "function") checkSteps(script);
  const calls: SpawnCall[] = [];
  const spawn: Spawn = async (request) => {
    const steps = typeof script === "function" ? checkSteps(script(request, calls.length)) : script;
    const { handle, call } = openScriptedProcess(request, { steps, pid: 1000 + calls.length, clock: options.clock });
    calls.push(call);
    return handle;
  };
  return Object.assign(spawn, { calls });
}
