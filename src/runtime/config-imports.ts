/** What the text of a module names as something to load. */
export interface NamedImports {
  /** What stands where an import is written, whatever it is. */
  readonly imported: readonly string[];
  /** Other texts that look like the path of a program: `"./lines.cjs"` may be handed to anything that loads. */
  readonly mentioned: readonly string[];
}

const LONGEST_SPECIFIER = 1_000;

/** What stands before the quote of an import: `from "x"`, `import "x"`, `import("x")`, `require("x")`. */
const IMPORT_BEFORE = /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\(|\brequire\.resolve\s*\()\s*$/;

/** How far back the words before a quote are looked for; comments between them are not looked through. */
const BEFORE = 40;

/** What Node loads as a program, or as data that is imported. */
export const PROGRAM_ENDING = /\.(?:[mc]?[jt]s|json|node|wasm)$/;

/**
 * Everything in the text of a module that may be the name of another one. It errs on the side of too much: every quote
 * is taken for the beginning of a text, also in comments. What is not found here is refused when it is loaded.
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

/** Whether a name is that of a file, and not that of a package. */
export function isPath(name: string): boolean {
  return /^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(name);
}
