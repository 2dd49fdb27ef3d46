import { createRun, createRunner, type Run, type RunInput, readInput } from "#agents";
import type { Backend } from "#backends";
import { StartError } from "#domain";
import type { Agent } from "./agent.ts";
import { checkOptions, type RunOptions } from "./options.ts";
import { priceOf } from "./prices.ts";
import { resolveBackend } from "./resolve-backend.ts";
import { systemWorld, type World } from "./world.ts";

/** What carries out a run: a backend by name, a backend, or an agent. */
export type Target = string | Backend | Agent;

/**
 * Starts a run and gives the handle on it.
 *
 * Wrong options, an unknown backend or a missing key throw `StartError` here and now; everything later is an event.
 *
 * @example
 * const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b)
 * for await (const text of run("offline", "What is 25 + 17?", { tools: [add] }).text()) process.stdout.write(text)
 */
export function run(target: Target, input: RunInput, options: RunOptions = {}): Run {
  return startRun(target, input, options, systemWorld());
}

/** `run` with its seams in hand. */
export function startRun(target: Target, input: RunInput, options: RunOptions, world: World): Run {
  checkOptions(options);
  const agent = readTarget(target);
  const merged: RunOptions = {
    ...agent.options,
    ...options,
    tools: [...(agent.options.tools ?? []), ...(options.tools ?? [])],
  };
  checkOptions(merged);
  const backendOf = (chosen: string | Backend): Backend =>
    typeof chosen === "string" ? resolveBackend(chosen, merged, world) : chosen;
  const messages = readInput(input);
  const source = createRunner({
    backend: backendOf(agent.backend),
    fallback: listOf(merged.fallback).map(backendOf),
    agent: agent.name,
    instructions: merged.instructions,
    tools: merged.tools ?? [],
    toolChoice: merged.toolChoice,
    toolConcurrency: merged.toolConcurrency,
    parallelToolCalls: merged.parallelToolCalls,
    messages,
    context: merged.context,
    limits: merged.limits ?? {},
    retry: merged.retry,
    maxTokens: merged.maxTokens,
    temperature: merged.temperature,
    thinkingTokens: merged.thinkingTokens,
    clock: world.clock,
    random: world.random,
    price: priceOf,
  });
  return createRun(source, {
    clock: world.clock,
    random: world.random,
    signal: merged.signal,
    history: messages.slice(0, -1),
    onListenerError: world.onListenerError,
  });
}

function readTarget(target: Target): {
  readonly name?: string;
  readonly backend: string | Backend;
  readonly options: RunOptions;
} {
  if (typeof target === "string") return { backend: target, options: {} };
  if (typeof target === "object" && target !== null) {
    if ("kind" in target && target.kind === "model") return { backend: target, options: {} };
    if ("backend" in target && "name" in target) {
      const { name, backend, instructions, tools, limits } = target;
      return {
        name,
        backend,
        options: {
          ...(instructions !== undefined && { instructions }),
          ...(tools !== undefined && { tools }),
          ...(limits !== undefined && { limits }),
        },
      };
    }
  }
  throw new StartError(
    "invalid-option",
    `The target is ${JSON.stringify(target)}. Give a backend such as "offline" or "anthropic/claude-sonnet-4-5", or an agent.`,
  );
}

function listOf<Value>(value: Value | readonly Value[] | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Value];
}
