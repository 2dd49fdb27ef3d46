import type { Backend, ModelBackend } from "#backends";
import { type Fetch, StartError } from "#domain";
import type { Emulator } from "#emulator";
import { createClaudeCodeBackend } from "../backends/claude-code/backend.ts";
import type { ClaudeCodeOptions } from "../backends/claude-code/options.ts";
import { createHttpBackend } from "../backends/http/backend.ts";
import { anthropicHost } from "../dialects/anthropic/profile.ts";
import { claudeCodeWorld, tapClaudeCode } from "./claude-code-world.ts";
import { backendOfModel, suggestBackend } from "./model-names.ts";
import { PROVIDER_NAMES, type ProviderName, type RunOptions } from "./options.ts";
import { makeBackend, PROVIDERS } from "./providers.ts";
import type { World } from "./world.ts";

/** The names that a backend string may begin with. */
export const BACKEND_NAMES: readonly string[] = ["claude-code", "offline", ...PROVIDER_NAMES];

/**
 * Splits a backend string into its two parts and checks the name.
 * @throws StartError `unknown-backend` with the nearest name.
 */
export function requireName(text: string): { readonly name: string; readonly model: string | undefined } {
  const slash = text.indexOf("/");
  const name = slash === -1 ? text : text.slice(0, slash);
  const given = slash === -1 ? "" : text.slice(slash + 1);
  if (!BACKEND_NAMES.includes(name)) throw unknownBackend(text);
  return { name, model: given === "" ? undefined : given };
}

/**
 * Creates the backend that a string names: `provider/model`, or `provider` for its default model.
 *
 * @throws StartError `unknown-backend`, `missing-key` or `invalid-option`, naming the variable or the nearest name.
 */
export function resolveBackend(
  text: string,
  settings: Pick<RunOptions, ProviderName | "claudeCode">,
  world: World,
): Backend {
  const { name, model: given } = requireName(text);
  if (name === "offline") {
    requireOffline(given);
    return createOfflineBackend(world);
  }
  if (name === "claude-code") return makeClaudeCode(given, settings.claudeCode ?? {}, world);
  const provider = name as ProviderName;
  const model = given ?? PROVIDERS[provider].defaultModel;
  if (model === undefined) {
    throw new StartError(
      "unknown-backend",
      `The backend "${text}" names no model. Write ${name}/<model>; ${name} has no default one.`,
    );
  }
  return makeBackend(provider, model, settings[provider] ?? {}, world);
}

/** The CLI as a backend, with the seams of this program. */
function makeClaudeCode(model: string | undefined, options: ClaudeCodeOptions, world: World): Backend {
  const { clock, random, spawn, files, env } = world;
  const settings = model === undefined ? options : { ...options, model };
  const machine = { ...claudeCodeWorld(), clock, random, spawn, files, env };
  if (world.tap === undefined) return createClaudeCodeBackend(settings, machine);
  const { spawn: own, ...recorded } = settings;
  if (own !== undefined && !world.tap.isPlayed) {
    throw new StartError(
      "invalid-option",
      "claudeCode.spawn is given in a run that is recorded, and what it starts goes past the tape. Leave record or claudeCode.spawn out.",
    );
  }
  // A tape must hold everything that was asked; answers remembered from earlier runs would be missing on it.
  const unknowing = { ...machine, versions: undefined };
  return createClaudeCodeBackend(recorded, world.tap.claudeCode?.(unknowing) ?? tapClaudeCode(unknowing, world.tap));
}

/**
 * The offline model must not answer under another model's name.
 * @throws StartError naming that model's provider.
 */
function requireOffline(model: string | undefined): void {
  if (model === undefined || model === "offline") return;
  const shown = model.length <= 80 ? model : `${model.slice(0, 79)}…`;
  const full = BACKEND_NAMES.includes(model.split("/", 1)[0] ?? "") ? model : backendOfModel(model);
  const remedy =
    full === undefined
      ? "Leave the model out, or name its provider, as in openai/<model>."
      : `Write ${full} as the backend, or leave the model out.`;
  throw new StartError("unknown-backend", `The backend offline is one model and has no "${shown}". ${remedy}`);
}

function unknownBackend(text: string): StartError {
  const guess = suggestBackend(text, BACKEND_NAMES);
  const shown = text.length <= 80 ? text : `${text.slice(0, 79)}…`;
  return new StartError(
    "unknown-backend",
    `There is no backend "${shown}".${guess === "" ? "" : ` ${guess}`} Known: ${BACKEND_NAMES.join(", ")}. Write a model after a slash, as in openai/<model>.`,
  );
}

/**
 * The built-in model: the offline model server, called in this process without a socket. The bytes are the same as on
 * the wire, so everything above works as with a real provider.
 */
function createOfflineBackend(world: World): ModelBackend {
  const { clock, random } = world.tap?.real ?? world;
  let emulator: Promise<Emulator> | undefined;
  // Loaded on first use, so that a program that uses a real provider does not pay for it.
  const ask: Fetch = async (request) => {
    emulator ??= import("#emulator").then(({ createEmulator }) => createEmulator({ clock, random }));
    return (await emulator).fetch(request);
  };
  const host = anthropicHost({
    provider: "offline",
    model: "offline",
    apiKey: "offline",
    baseUrl: "http://offline.invalid",
  });
  return createHttpBackend(host, world.tap?.exchange(ask) ?? ask);
}
