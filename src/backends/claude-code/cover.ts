import type { Raw } from "#domain";
import { createSecretMask, type SecretMask } from "#secrets";
import type { Cover } from "../cover-thrown.ts";
import { cliSecrets } from "./environment.ts";
import type { ClaudeCodeOptions } from "./options.ts";

/** Hides the secrets of a CLI with these options. The mask is created on first use: most processes never need it. */
export function createCover(
  options: ClaudeCodeOptions,
  world: { readonly env: Readonly<Record<string, string | undefined>> },
): Cover {
  let mask: { readonly secrets: SecretMask | undefined } | undefined;
  return (value) => {
    mask ??= { secrets: createSecretMask(cliSecrets(options, world)) };
    return mask.secrets?.value(value) ?? value;
  };
}

/** Hides the secrets of a CLI in a text that arrives in pieces, also those that are spread over several pieces. */
export function createPieceCover(
  options: ClaudeCodeOptions,
  world: { readonly env: Readonly<Record<string, string | undefined>> },
): (piece: string) => string {
  const mask = createSecretMask(cliSecrets(options, world))?.stream();
  return (piece) => (mask === undefined ? piece : mask.push(piece) + mask.tear());
}

/** Hides the secrets of a CLI in its lines, also those that are spread over several lines. */
export function createLineCover(
  options: ClaudeCodeOptions,
  world: { readonly env: Readonly<Record<string, string | undefined>> },
): (frame: Raw) => Raw {
  const lines = createSecretMask(cliSecrets(options, world))?.lines();
  return (frame) => lines?.coverFrame(frame) ?? frame;
}
