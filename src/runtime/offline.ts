import type { ModelBackend } from "#backends";
import type { Emulator } from "#emulator";
import { createAnthropicBackend } from "../backends/anthropic/anthropic.ts";
import type { World } from "./world.ts";

/**
 * The built-in model: the offline model server, asked in this process without a socket. The bytes are the same as on
 * the wire, so everything above works as it does with a real provider.
 */
export function createOfflineBackend(model: string, world: World): ModelBackend {
  let emulator: Promise<Emulator> | undefined;
  return createAnthropicBackend({
    provider: "offline",
    model: model === "" ? "offline" : model,
    apiKey: "offline",
    baseUrl: "http://offline.invalid",
    // Loaded when it is first asked: a program that talks to a real provider never pays for it.
    fetch: async (request) => {
      emulator ??= import("#emulator").then(({ createEmulator }) =>
        createEmulator({ clock: world.clock, random: world.random }),
      );
      return (await emulator).fetch(request);
    },
  });
}
