type Paint = (text: string) => string;

/** The colours and styles of the terminal sinks. Each ends with its own code, so that they can be nested. */
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly italic: Paint;
  readonly underline: Paint;
  readonly strike: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly magenta: Paint;
  readonly cyan: Paint;
}

const plain: Paint = (text) => text;
const painter =
  (open: number, close: number): Paint =>
  (text) =>
    text === "" ? "" : `\u001b[${open}m${text}\u001b[${close}m`;

const COLORS: Palette = {
  bold: painter(1, 22),
  dim: painter(2, 22),
  italic: painter(3, 23),
  underline: painter(4, 24),
  strike: painter(9, 29),
  red: painter(31, 39),
  green: painter(32, 39),
  yellow: painter(33, 39),
  magenta: painter(35, 39),
  cyan: painter(36, 39),
};

const NO_COLORS: Palette = {
  bold: plain,
  dim: plain,
  italic: plain,
  underline: plain,
  strike: plain,
  red: plain,
  green: plain,
  yellow: plain,
  magenta: plain,
  cyan: plain,
};

export function createPalette(color: boolean): Palette {
  return color ? COLORS : NO_COLORS;
}

/**
 * Whether a stream is written in colour. `FORCE_COLOR` decides if it is set (`0` and `false` disable colour); otherwise
 * `NO_COLOR` and `TERM=dumb` disable it, and without those a terminal gets colour.
 *
 * @example
 * const color = wantsColor(process.stderr.isTTY, process.env)
 */
export function wantsColor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb") return false;
  return isTerminal;
}
