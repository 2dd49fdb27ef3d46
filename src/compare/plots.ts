/** A row of a plot: a name and its values. */
export interface PlotRow {
  readonly name: string;
  readonly values: readonly number[];
}

export interface PlotOptions {
  readonly title: string;
  readonly rows: readonly PlotRow[];
  /** The right end of the axis. Default: the largest value. */
  readonly max?: number;
  readonly label: (value: number) => string;
}

const WIDTH = 570;
const LEFT = 210;
const RIGHT = 70;
const ROW = 28;
const TOP = 8;
const AXIS = 24;
const TICKS = 4;

/**
 * A dot for every value, a row per name, with a stroke at the mean. An SVG without scripts; the page defines the
 * colours.
 */
export function drawPlot({ title, rows, max, label }: PlotOptions): string {
  const end = max ?? Math.max(...rows.flatMap(({ values }) => values), 0);
  const scale = end > 0 ? end : 1;
  const x = (value: number): number => round(LEFT + (value / scale) * (WIDTH - LEFT - RIGHT));
  const height = TOP + rows.length * ROW + AXIS;
  const bottom = TOP + rows.length * ROW;
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => (scale * index) / TICKS);
  const parts = [
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">`,
    ...ticks.map((tick) => `<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="${TOP}" y2="${bottom}"/>`),
    ...ticks.map((tick) => `<text class="tick" x="${x(tick)}" y="${bottom + 16}">${escapeHtml(label(tick))}</text>`),
    ...rows.flatMap((row, index) => drawRow(row, { y: TOP + index * ROW + ROW / 2, index, x, label })),
    "</svg>",
  ];
  return parts.join("");
}

function drawRow(
  { name, values }: PlotRow,
  at: {
    readonly y: number;
    readonly index: number;
    readonly x: (value: number) => number;
    readonly label: (value: number) => string;
  },
): readonly string[] {
  const { y, index, x, label } = at;
  const text = `<text class="name" x="${LEFT - 10}" y="${y + 4}"><title>${escapeHtml(name)}</title>${escapeHtml(shorten(name))}</text>`;
  if (values.length === 0) return [text, `<text class="none" x="${LEFT + 4}" y="${y + 4}">no value</text>`];
  const average = values.reduce((sum, value) => sum + value, 0) / values.length;
  // Equal values would hide each other, so they are spread over the height of the row.
  const dots = values.map((value, place) => {
    const offset = values.length === 1 ? 0 : (place / (values.length - 1) - 0.5) * (ROW - 14);
    return `<circle class="dot c${index % 6}" cx="${x(value)}" cy="${round(y + offset)}" r="3.5"/>`;
  });
  return [
    text,
    ...dots,
    `<line class="mean" x1="${x(average)}" x2="${x(average)}" y1="${y - ROW / 2 + 4}" y2="${y + ROW / 2 - 4}"/>`,
    `<text class="value" x="${WIDTH - RIGHT + 12}" y="${y + 4}">${escapeHtml(label(average))}</text>`,
  ];
}

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (letter) => names[letter] as string);
}

/** As long as fits into the left margin in a wide font, such as "anthropic/claude-sonnet-4-6". */
function shorten(name: string): string {
  return name.length <= 28 ? name : `${name.slice(0, 27)}…`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
