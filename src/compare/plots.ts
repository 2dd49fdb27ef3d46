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

/** About as wide as a phone, so that its text has nearly its full size there. */
const WIDTH = 400;
const LEFT = 16;
const RIGHT = 64;
/** A name, and its values below it. */
const ROW = 42;
const NAME = 16;
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
    ...rows.flatMap((row, index) => drawRow(row, { top: TOP + index * ROW, index, x, label })),
    "</svg>",
  ];
  return parts.join("");
}

function drawRow(
  { name, values }: PlotRow,
  at: {
    readonly top: number;
    readonly index: number;
    readonly x: (value: number) => number;
    readonly label: (value: number) => string;
  },
): readonly string[] {
  const { top, index, x, label } = at;
  const text = `<text class="name" x="0" y="${top + NAME - 4}"><title>${escapeHtml(name)}</title>${escapeHtml(shorten(name))}</text>`;
  const [first, last] = [top + NAME + 2, top + ROW - 4];
  const y = (first + last) / 2;
  if (values.length === 0) return [text, `<text class="none" x="${LEFT}" y="${y + 4}">no value</text>`];
  const average = values.reduce((sum, value) => sum + value, 0) / values.length;
  // Equal values would hide each other, so they are spread over the height of the row.
  const dots = values.map((value, place) => {
    const offset = values.length === 1 ? 0 : (place / (values.length - 1) - 0.5) * (last - first - 8);
    return `<circle class="dot c${index % 6}" cx="${x(value)}" cy="${round(y + offset)}" r="3.5"/>`;
  });
  return [
    text,
    ...dots,
    `<line class="mean" x1="${x(average)}" x2="${x(average)}" y1="${first}" y2="${last}"/>`,
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

/** As long as fits above its row in a wide font. The whole name is in the title. */
function shorten(name: string): string {
  return name.length <= 44 ? name : `${name.slice(0, 43)}…`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
