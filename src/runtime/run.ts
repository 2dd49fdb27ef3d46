import { createRun, createRunner, type Run, type RunInput, readInput } from "#agents";
import type { Backend, ModelBackend } from "#backends";
import { type Message, StartError } from "#domain";
import { type Agent, agent } from "./agent.ts";
import { checkChosenTool, checkOptions, isBackend } from "./check-options.ts";
import { describeValue } from "./describe-value.ts";
import type { RunOptions } from "./options.ts";
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
  const chosen = readTarget(target);
  const merged = mergeOptions(chosen, options);
  const backendOf = (backend: string | Backend): ModelBackend => {
    const resolved = typeof backend === "string" ? resolveBackend(backend, merged, world) : backend;
    if (resolved.kind === "model") return resolved;
    throw new StartError("feature-unavailable", `The backend ${resolved.name} carries out runs of its own.`);
  };
  const messages = readInput(input);
  checkLast(messages);
  const source = createRunner({
    backend: backendOf(chosen.backend),
    fallback: listOf(merged.fallback).map(backendOf),
    agent: chosen.name,
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

function readTarget(target: Target): Omit<Agent, "name"> & { readonly name?: string } {
  if (typeof target === "string") return { backend: target };
  if (typeof target === "object" && target !== null) {
    if (isBackend(target)) return { backend: target as Backend };
    if ("backend" in target) return agent(target);
  }
  throw new StartError(
    "invalid-option",
    `The target is ${describeValue(target)}. Give a backend such as "offline" or "anthropic/claude-sonnet-4-5", or an agent.`,
  );
}

/** What the run says goes before what the agent says; tools of both are offered. */
function mergeOptions(chosen: Omit<Agent, "name">, options: RunOptions): RunOptions {
  const instructions = options.instructions ?? chosen.instructions;
  const merged: RunOptions = {
    ...options,
    ...(instructions !== undefined && { instructions }),
    tools: [...(chosen.tools ?? []), ...(options.tools ?? [])],
    limits: { ...chosen.limits, ...withoutGaps(options.limits) },
  };
  checkOptions(merged);
  checkChosenTool(merged);
  return merged;
}

/** A field that is there and undefined says nothing. */
function withoutGaps<Fields extends object>(fields: Fields | undefined): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

/** A model needs something to answer; a host would refuse the request, and not say it as clearly. */
function checkLast(messages: readonly Message[]): void {
  const last = messages.at(-1);
  const says = last?.blocks.some((block) =>
    block.type === "text" ? block.text.trim() !== "" : block.type !== "unknown" && block.type !== "thinking",
  );
  if (last?.role === "user" && says === true) return;
  throw new StartError(
    "invalid-input",
    "The last message of the input says nothing. Give it text, a picture, or the results of tools.",
  );
}

function listOf<Value>(value: Value | readonly Value[] | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Value];
}
