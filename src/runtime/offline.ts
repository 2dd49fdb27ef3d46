import type { ModelBackend } from "#backends";
import type { Fetch } from "#domain";
import type { Emulator } from "#emulator";
import { createHttpBackend } from "../backends/http/backend.ts";
import { anthropicHost } from "../dialects/anthropic/profile.ts";
import type { World } from "./world.ts";

/**
 * The built-in model: the offline model server, asked in this process without a socket. The bytes are the same as on
 * the wire, so everything above works as it does with a real provider.
 */
export function createOfflineBackend(world: World): ModelBackend {
  const { clock, random } = world.tap?.real ?? world;
  let emulator: Promise<Emulator> | undefined;
  // Loaded when it is first asked: a program that talks to a real provider never pays for it.
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
