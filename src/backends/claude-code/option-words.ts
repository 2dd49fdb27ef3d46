/** How the CLI treats tool calls nobody has decided about. */
export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "bypassPermissions",
  "plan",
  "auto",
  "dontAsk",
  "manual",
] as const;

/** How the CLI treats tool calls that no rule is about. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Where the CLI may take settings, hooks and tool servers from. */
export const SETTING_SOURCES = ["user", "project", "local"] as const;

/** A place the CLI may take settings from. */
export type SettingSource = (typeof SETTING_SOURCES)[number];

/** How hard the model is to try. */
export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof EFFORTS)[number];
