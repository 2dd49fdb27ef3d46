import { displayWidth } from "../display-width.ts";
import { createPalette, type Palette } from "../palette.ts";
import { renderInline } from "./inline.ts";

/**
 * The maximum characters of a table, which is held back until its columns are known. A larger one is shown as written.
 */
export const MAX_TABLE = 32 * 1024;

const DIVIDER = /^[ \t]*\|?[-: \t|]+\|?[ \t]*$/;

interface Cell {
  readonly shown: string;
  readonly width: number;
}

/**
 * The lines of a table with aligned columns; unchanged if they are not a table, or if the terminal is too narrow:
 * nothing is ever cut off.
 */
export function renderTable(lines: readonly string[], columns: number, palette: Palette): string[] {
  const asWritten = (): string[] => lines.map((line) => renderInline(line, palette));
  const [head, divider = "", ...body] = lines;
  if (head === undefined || !divider.includes("-") || !DIVIDER.test(divider)) return asWritten();
  const rows = [head, ...body].map((line) => splitRow(line).map((cell) => readCell(cell, palette)));
  const aligns = splitRow(divider).map(readAlign);
  const count = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => row[column]?.width ?? 0)));
  if (widths.reduce((sum, width) => sum + width + 3, -3) > columns) return asWritten();
  const bar = palette.dim(" │ ");
  const drawn = rows.map((row, index) =>
    widths
      .map((width, column) => pad(row[column], width, aligns[column] ?? "left"))
      // Cell by cell: the bar between them also ends the bold style.
      .map((cell) => (index === 0 ? palette.bold(cell) : cell))
      .join(bar),
  );
  const line = palette.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  const [top = "", ...rest] = drawn;
  return [top, line, ...rest].map((row) => row.trimEnd());
}

function readCell(text: string, palette: Palette): Cell {
  return { shown: renderInline(text, palette), width: displayWidth(renderInline(text, createPalette(false))) };
}

/** The cells of a row, split at bars that are neither escaped nor inside code. */
function splitRow(line: string): string[] {
  const cells: string[] = [];
  const text = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  let cell = "";
  let inCode = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === "\\" && text[at + 1] === "|") {
      cell += "|";
      at += 1;
    } else if (character === "|" && !inCode) {
      cells.push(cell.trim());
      cell = "";
    } else {
      if (character === "`") inCode = !inCode;
      cell += character;
    }
  }
  return [...cells, cell.trim()];
}

function readAlign(divider: string): "left" | "right" | "center" {
  if (!divider.endsWith(":")) return "left";
  return divider.startsWith(":") ? "center" : "right";
}

function pad(cell: Cell | undefined, width: number, align: "left" | "right" | "center"): string {
  const room = width - (cell?.width ?? 0);
  const before = align === "left" ? 0 : align === "right" ? room : Math.floor(room / 2);
  return " ".repeat(before) + (cell?.shown ?? "") + " ".repeat(room - before);
}
