/** How the CLI treats tool calls that no rule covers. */
export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "bypassPermissions",
  "plan",
  "auto",
  "dontAsk",
  "manual",
] as const;

/** How the CLI treats tool calls that no rule covers. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** The sources from which the CLI may load settings, hooks and tool servers. */
export const SETTING_SOURCES = ["user", "project", "local"] as const;

/** A source from which the CLI may load settings. */
export type SettingSource = (typeof SETTING_SOURCES)[number];

/** The effort of the model. */
export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof EFFORTS)[number];
