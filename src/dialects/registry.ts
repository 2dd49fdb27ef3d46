import { checkNames, checkOptionNames, nearestName, StartError } from "#domain";
import type { Framing } from "#wire";
import { anthropicMessages } from "./anthropic/decode.ts";
import { claudeCode } from "./claude-code/decode.ts";
import { createDeclarativeFormat, type DeclarativeFormat } from "./declarative/create-format.ts";
import { parseFormatConfig, readName } from "./declarative/parse-config.ts";
import { FRAMINGS } from "./declarative/schema.ts";
import { gemini } from "./gemini/decode.ts";
import { openAiChat } from "./openai-chat/decode.ts";
import { ndjson } from "./ndjson.ts";
import { text } from "./text.ts";
import type { Format } from "./shared/format.ts";

/** A format and its aliases. */
export interface FormatEntry {
  readonly format: Format;
  readonly aliases?: readonly string[];
}

/**
 * The formats included in the package.
 *
 * @example
 * for (const { format } of builtInFormats()) console.log(format.name, format.description)
 */
export function builtInFormats(): readonly FormatEntry[] {
  return [
    { format: claudeCode, aliases: ["claude-agent-sdk", "@mlld/claude-agent-sdk", "anthropic"] },
    { format: anthropicMessages },
    { format: openAiChat },
    { format: gemini },
    { format: ndjson },
    { format: text },
  ];
}

/** How a registry describes a format. */
export interface FormatDescription {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly framing: Framing;
  readonly description: string;
  /** From the config of a declarative format. */
  readonly version?: string;
}

/**
 * Maps names and aliases to formats. The caller creates it, and registries are independent of each other.
 *
 * It holds formats, never adapters: every `createAdapter` starts a new stream.
 */
export interface FormatRegistry {
  /** Adds a format. If one of its names is taken, nothing is added. @throws StartError `invalid-format` */
  register(format: Format, options?: { readonly aliases?: readonly string[] }): void;
  /** Adds a format made of data, given as a value or as JSON text. @throws StartError `invalid-format` */
  registerConfig(config: unknown, options?: { readonly aliases?: readonly string[] }): DeclarativeFormat;
  /** The format with this name or alias; `undefined` if there is none. */
  get(name: string): Format | undefined;
  /**
   * The format with this name or alias. @throws StartError `unknown-format`, with the known names and the nearest one
   */
  require(name: string): Format;
  has(name: string): boolean;
  /** All names that `get` accepts, in order of registration, each format's name before its aliases. */
  list(): string[];
  /** The description of the format with this name or alias. */
  describe(name: string): FormatDescription | undefined;
  /**
   * Removes a format with all its aliases, or only the alias if one is given. Returns whether there was such a name.
   */
  unregister(name: string): boolean;
}

/**
 * Creates a registry with the given formats, by default the built-in ones.
 *
 * @example
 * const formats = createFormatRegistry();
 * formats.registerConfig({ name: "my-agent", framing: "ndjson", events: [] });
 * formats.require("claude-agent-sdk").name; // "claude-code"
 */
export function createFormatRegistry(formats: readonly (Format | FormatEntry)[] = builtInFormats()): FormatRegistry {
  // A map, not an object: otherwise "constructor" would be a name.
  const names = new Map<string, FormatEntry>();

  const register: FormatRegistry["register"] = (format, options = {}) => {
    checkOptionNames(options, ["aliases"], "register");
    const entry = { format: checkFormat(format), aliases: [...(options.aliases ?? [])] };
    const added = [format.name, ...entry.aliases.map((alias, index) => readName(alias, `aliases[${index}]`))];
    for (const [index, name] of added.entries()) {
      if (!names.has(name) && added.indexOf(name) === index) continue;
      throw new StartError(
        "invalid-format",
        `name: ${JSON.stringify(name)} is taken. Choose another name, or unregister the format that has it.`,
      );
    }
    for (const name of added) names.set(name, entry);
  };

  for (const given of formats) {
    if ("format" in given) checkNames(given, ["format", "aliases"] satisfies (keyof FormatEntry)[], "formats[].");
    if ("format" in given) register(given.format, given.aliases === undefined ? {} : { aliases: given.aliases });
    else register(given);
  }

  const aliasesOf = (entry: FormatEntry): string[] =>
    [...names].filter(([name, other]) => other === entry && name !== entry.format.name).map(([name]) => name);

  return {
    register,
    registerConfig(config, options) {
      const format = createDeclarativeFormat(parseFormatConfig(config));
      register(format, options);
      return format;
    },
    get: (name) => names.get(name)?.format,
    require: (name) => names.get(name)?.format ?? throwUnknown(name, [...names.keys()]),
    has: (name) => names.has(name),
    list: () => [...names.keys()],
    describe(name) {
      const entry = names.get(name);
      if (entry === undefined) return undefined;
      const { format } = entry;
      const version = versionOf(format);
      return {
        name: format.name,
        aliases: aliasesOf(entry),
        framing: format.framing,
        description: format.description,
        ...(version !== undefined && { version }),
      };
    },
    unregister(name) {
      const entry = names.get(name);
      if (entry === undefined) return false;
      if (name === entry.format.name) for (const alias of aliasesOf(entry)) names.delete(alias);
      return names.delete(name);
    },
  };
}

/** Formats can come from plugins: an invalid one is refused here and not in the middle of a stream. */
function checkFormat(format: Format): Format {
  readName(format.name, "name");
  if (!FRAMINGS.includes(format.framing)) {
    throw new StartError(
      "invalid-format",
      `framing: ${JSON.stringify(format.framing)} is not a framing. Use one of: ${FRAMINGS.join(", ")}.`,
    );
  }
  if (typeof format.createAdapter !== "function") {
    throw new StartError("invalid-format", `createAdapter: ${format.name} has none. Give a function.`);
  }
  return format;
}

function versionOf(format: Format): string | undefined {
  return "config" in format ? (format as DeclarativeFormat).config.version : undefined;
}

function throwUnknown(name: string, known: readonly string[]): never {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? "" : ` Did you mean ${JSON.stringify(nearest)}?`;
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 57)}...` : name);
  throw new StartError(
    "unknown-format",
    `format: ${shown} is not registered.${hint} Known: ${known.join(", ") || "none"}.`,
  );
}
