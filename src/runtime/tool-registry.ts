import { checkOptionNames, nearestName, StartError, ToolFailure } from "#domain";
import { runTool, type Tool } from "#tools";
import { systemWorld, type World } from "./world.ts";

/** The options of `registry.execute`. */
export interface ExecuteOptions {
  /** Handed to the tool. */
  readonly context?: unknown;
  readonly signal?: AbortSignal;
}

/** Tools by name: one place to collect them, to hand them to runs, and to run one without a model. */
export interface ToolRegistry {
  /** The tools in the order they were registered, for the option `tools`. */
  readonly tools: readonly Tool[];
  /** @throws StartError when there is a tool of this name already. */
  register(...tools: readonly Tool[]): void;
  /** Whether there was one. */
  unregister(name: string): boolean;
  get(name: string): Tool | undefined;
  /**
   * Runs one tool as a run would: arguments are checked, its deadline holds. Resolves to the text a model would be
   * shown; rejects with `ToolFailure` when the tool is unknown, the arguments do not fit, or it failed.
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
export function createToolRegistryIn(given: readonly Tool[], { clock, random }: World): ToolRegistry {
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
        onProgress: () => undefined,
      });
      const text = typeof output === "string" ? output : JSON.stringify(output);
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
  return `There is no tool "${name}".${guess} Registered are: ${known.join(", ") || "none"}.`;
}
