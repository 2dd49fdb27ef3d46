/** One setting for git, as `git -c key=value` would say it. */
export type GitSetting = readonly [key: string, value: string];

/**
 * What no repository decides, whatever its configuration says: commands that git starts when it is merely asked for
 * the status, hooks in its folder, and repositories hidden inside it that are configured by whoever wrote them.
 */
export const ALWAYS_OFF: readonly GitSetting[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["protocol.ext.allow", "never"],
  ["safe.bareRepository", "explicit"],
];

/** The settings that variables hold (`GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_0`, `GIT_CONFIG_VALUE_0` …). */
export function readGitSettings(env: Readonly<Record<string, string | undefined>>): readonly GitSetting[] {
  const count = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  const settings: GitSetting[] = [];
  if (!Number.isSafeInteger(count)) return settings;
  for (let index = 0; index < count; index += 1) {
    const key = env[`GIT_CONFIG_KEY_${index}`];
    const value = env[`GIT_CONFIG_VALUE_${index}`];
    // Git refuses to work with a gap, so nothing after it can be kept.
    if (key === undefined || value === undefined) break;
    settings.push([key, value]);
  }
  return settings;
}

/** Headers may hold a token; they stay with the program that set them. */
export function isPrivateSetting([key]: GitSetting): boolean {
  return /^http\..*extraheader$/i.test(key);
}

/** The variables that hold these settings. */
export function* numberGitSettings(settings: readonly GitSetting[]): Generator<readonly [string, string]> {
  yield ["GIT_CONFIG_COUNT", String(settings.length)];
  for (const [index, [key, value]] of settings.entries()) {
    yield [`GIT_CONFIG_KEY_${index}`, key];
    yield [`GIT_CONFIG_VALUE_${index}`, value];
  }
}
