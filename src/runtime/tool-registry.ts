import { checkInput, checkOptionNames, expects, nearestName, StartError, ToolFailure } from "#domain";
import { runTool, type Tool } from "#tools";
import { systemWorld, type World } from "./world.ts";

/** The options of `registry.execute`. */
export interface ExecuteOptions {
  /** Passed to the tool. */
  readonly context?: unknown;
  readonly signal?: AbortSignal;
}

/** Tools by name: collects them, provides them to runs, and runs one without a model. */
export interface ToolRegistry {
  /** The tools in the order of registration, for the option `tools`. */
  readonly tools: readonly Tool[];
  /**
   * Adds tools.
   * @throws StartError when a tool of this name exists already.
   */
  register(...tools: readonly Tool[]): void;
  /** Returns whether the tool existed. */
  unregister(name: string): boolean;
  get(name: string): Tool | undefined;
  /**
   * Runs one tool as a run would: it checks the arguments and enforces the deadline. Resolves to the text that a model
   * would see; rejects with `ToolFailure` when the tool is unknown, the arguments do not match, or it fails.
   */
  execute(name: string, input: unknown, options?: ExecuteOptions): Promise<string>;
}

/**
 * Creates a registry of tools.
 *
 * @example
 * const registry = createToolRegistry([tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b)])
 * await registry.execute("add", { a: 25, b: 17 }) // "42"
 * run("offline", "What is 25 + 17?", { tools: registry.tools })
 */
export function createToolRegistry(tools: readonly Tool[] = []): ToolRegistry {
  return createToolRegistryIn(tools, systemWorld());
}

/** `createToolRegistry` with its seams passed in. */
export function createToolRegistryIn(given: readonly Tool[], { clock, nextTurn, random }: World): ToolRegistry {
  checkInput(expects(Array.isArray, "a list of tools"), given, "tools");
  const tools = new Map<string, Tool>();
  const registry: ToolRegistry = {
    get tools() {
      return [...tools.values()];
    },
    register(...added) {
      for (const [index, one] of added.entries()) {
        const isTaken = tools.has(one.name) || added.slice(0, index).some(({ name }) => name === one.name);
        if (!isTaken) continue;
        throw new StartError(
          "invalid-option",
          `There is a tool "${one.name}" already. Give this one another name, or unregister the other.`,
        );
      }
      for (const one of added) tools.set(one.name, one);
    },
    unregister: (name) => tools.delete(name),
    get: (name) => tools.get(name),
    async execute(name, input, options = {}) {
      checkOptionNames(options, ["context", "signal"] satisfies (keyof ExecuteOptions)[], "execute");
      const { context, signal = new AbortController().signal } = options;
      const found = tools.get(name);
      if (found === undefined) throw new ToolFailure(describeUnknown(name, [...tools.keys()]));
      const { kind, output } = await runTool(found, input, {
        callId: random.id(),
        runId: random.id(),
        agent: undefined,
        context,
        signal,
        clock,
        nextTurn,
        onProgress: () => undefined,
      });
      const text = typeof output === "string" ? output : JSON.stringify(output);
      if (kind === "parked") throw new ToolFailure(`The tool "${name}" parks its calls, so only a run can execute it.`);
      if (kind === "failed") throw new ToolFailure(text);
      return text;
    },
  };
  registry.register(...given);
  return registry;
}

function describeUnknown(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  const guess = near === undefined ? "" : ` Did you mean "${near}"?`;
  return `There is no tool "${name}".${guess} Registered tools: ${known.join(", ") || "none"}.`;
}
