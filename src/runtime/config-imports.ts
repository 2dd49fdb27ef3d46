/** The names in the text of a module that may refer to something to load. */
export interface NamedImports {
  /** Everything written in the place of an import specifier. */
  readonly imported: readonly string[];
  /** Other strings that look like the path of a program: `"./lines.cjs"` may be passed to anything that loads files. */
  readonly mentioned: readonly string[];
}

const LONGEST_SPECIFIER = 1_000;

/** The text before the quote of an import: `from "x"`, `import "x"`, `import("x")`, `require("x")`. */
const IMPORT_BEFORE = /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\(|\brequire\.resolve\s*\()\s*$/;

/** How many characters before a quote are searched; comments in between are not skipped. */
const BEFORE = 40;

/** Files that Node loads as programs or as imported data. */
export const PROGRAM_ENDING = /\.(?:[mc]?[jt]s|json|node|wasm)$/;

/**
 * Everything in the text of a module that may name another one. It errs on the side of too much: every quote counts as
 * the start of a string, even in comments. A file that is missed here is refused when it is loaded.
 */
export function namedImports(text: string): NamedImports {
  const imported = new Set<string>();
  const mentioned = new Set<string>();
  for (const quote of ['"', "'", "`"]) {
    for (let at = text.indexOf(quote); at !== -1; ) {
      const next = text.indexOf(quote, at + 1);
      if (next === -1) break;
      const name = text.slice(at + 1, Math.min(next, at + 1 + LONGEST_SPECIFIER + 1));
      if (name !== "" && name.length <= LONGEST_SPECIFIER && !/[\r\n\\]/.test(name)) {
        if (IMPORT_BEFORE.test(text.slice(Math.max(0, at - BEFORE), at))) imported.add(name);
        else if (isPath(name) && PROGRAM_ENDING.test(name)) mentioned.add(name);
      }
      at = next;
    }
  }
  return { imported: [...imported], mentioned: [...mentioned] };
}

/** Whether a name is a path rather than a package name. */
export function isPath(name: string): boolean {
  return /^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(name);
}
