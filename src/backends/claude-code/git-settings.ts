/** One setting for git, as in `git -c key=value`. */
export type GitSetting = readonly [key: string, value: string];

/**
 * Settings that override every repository: commands that git starts even for its status, hooks in its folder, and
 * nested bare repositories, whose configuration anyone may have written.
 */
export const ALWAYS_OFF: readonly GitSetting[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["protocol.ext.allow", "never"],
  ["safe.bareRepository", "explicit"],
];

/** The settings in environment variables (`GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_0`, `GIT_CONFIG_VALUE_0` …). */
export function readGitSettings(env: Readonly<Record<string, string | undefined>>): readonly GitSetting[] {
  const count = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  const settings: GitSetting[] = [];
  if (!Number.isSafeInteger(count)) return settings;
  for (let index = 0; index < count; index += 1) {
    const key = env[`GIT_CONFIG_KEY_${index}`];
    const value = env[`GIT_CONFIG_VALUE_${index}`];
    // Git refuses a gap, so nothing after it can be kept.
    if (key === undefined || value === undefined) break;
    settings.push([key, value]);
  }
  return settings;
}

/** Headers may contain a token, so they are not passed on. */
export function isPrivateSetting([key]: GitSetting): boolean {
  return /^http\..*extraheader$/i.test(key);
}

/** The environment variables for these settings. */
export function* numberGitSettings(settings: readonly GitSetting[]): Generator<readonly [string, string]> {
  yield ["GIT_CONFIG_COUNT", String(settings.length)];
  for (const [index, [key, value]] of settings.entries()) {
    yield [`GIT_CONFIG_KEY_${index}`, key];
    yield [`GIT_CONFIG_VALUE_${index}`, value];
  }
}
