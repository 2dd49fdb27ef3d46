import { type Glob, matchesGlob } from "./matcher.ts";
import { composed, foldPath, isFoundInOtherCase } from "./path-names.ts";
import { straightPath } from "./path-match.ts";
import { expandPath, findReal, isAbsolutePath, type PathLookup, type SeenPath, seePath } from "./path-lookup.ts";
import type { Rule } from "./rule.ts";
import type { MatchResult } from "./shell-match.ts";
import type { MatchTarget } from "./match-targets.ts";

/** Rules and the paths of one call, resolved on the disk. */
export interface SeenPaths {
  /**
   * How certainly a path falls under a rule that denies or asks. `isSearch`: the tool also reads everything below the
   * path.
   */
  falls(rule: Rule, text: string, isSearch: boolean): MatchResult;
  /** Whether a text, read as a path, may lead out of the folder it names: by `..`, `~` or a link. */
  leaves(text: string): boolean;
  /** Whether rules that allow cover every place a path leads to. */
  covers(rules: readonly Rule[], text: string): boolean;
}

/** The patterns of a rule as absolute paths. */
interface PathPatterns {
  /** As written, and with the links in their folders followed. */
  readonly wide: readonly Glob[];
  /** Below the real working folder, or absolute: a link inside the working folder must not open another folder. */
  readonly strict: readonly Glob[];
}

/** The patterns of a rule, and whether they are complete. */
interface SeenPatterns extends PathPatterns {
  /** `false`: the disk could not be read, so the rule may be about any path. */
  readonly isWhole: boolean;
}

/** Errors that state a fact about the path and will recur. After any other error it is unknown where the path leads. */
const SETTLED: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG"]);

/** Matches rules against real paths. Each rule is resolved once. */
export class PathRules {
  private readonly _lookup: PathLookup;
  private readonly _patterns = new Map<string, Promise<SeenPatterns>>();

  constructor(lookup: PathLookup) {
    this._lookup = lookup;
  }

  /** Resolves rules and paths. `cwd`: the folder the call itself runs in, if known. */
  async see(rules: readonly Rule[], targets: readonly MatchTarget[], cwd: string | undefined): Promise<SeenPaths> {
    const bases = cwd === undefined || cwd === this._lookup.cwd ? [this._lookup.cwd] : [this._lookup.cwd, cwd];
    const texts = [...new Set(targets.filter(mayBePath).map(({ text }) => text))];
    const paths = new Map<string, SeenPath>();
    await Promise.all(texts.map(async (text) => paths.set(text, await seePath(text, this._lookup, bases))));
    const patterns = new Map<Rule, SeenPatterns>();
    await Promise.all(rules.map(async (rule) => patterns.set(rule, await this._patternsOf(rule))));
    const { ignoresCase } = this._lookup;
    const twins = ignoresCase ? new Set<string>() : await this._findTwins(patterns, paths);
    const spelling = (text: string): Fold => (ignoresCase || twins.has(text) ? foldPath : composed);
    return {
      falls: (rule, text, isSearch) => fall(patterns.get(rule), paths.get(text), { isSearch, fold: spelling(text) }),
      leaves: (text) => /^~|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(text) || paths.get(text)?.isLinked === true,
      covers: (allowing, text) => {
        const strict = allowing.flatMap((rule) => patterns.get(rule)?.strict ?? []);
        const real = paths.get(text)?.real;
        const fold: Fold = ignoresCase ? (path) => composed(path).toLowerCase() : (path) => path;
        return real?.every((path) => strict.some((glob) => fits(glob, path, fold))) === true;
      },
    };
  }

  /** The paths that match a rule only when case is ignored, on a disk that ignores case. */
  private async _findTwins(
    patterns: ReadonlyMap<Rule, SeenPatterns>,
    paths: ReadonlyMap<string, SeenPath>,
  ): Promise<ReadonlySet<string>> {
    const wide = [...patterns.values()].flatMap((one) => one.wide);
    const twins = new Set<string>();
    for (const [text, { forms, places }] of paths) {
      const isTwin = wide.some((glob) => forms.some((form) => !matchesGlob(glob, form) && fits(glob, form, foldPath)));
      if (!isTwin) continue;
      for (const place of places) if (await isFoundInOtherCase(place, this._lookup)) twins.add(text);
    }
    return twins;
  }

  private _patternsOf(rule: Rule): Promise<SeenPatterns> {
    let patterns = this._patterns.get(rule.text);
    if (patterns === undefined) {
      patterns = this._lookUp(rule);
      this._patterns.set(rule.text, patterns);
    }
    return patterns;
  }

  private async _lookUp(rule: Rule): Promise<SeenPatterns> {
    let isWhole = true;
    const watch =
      <Value>(look: (path: string) => Promise<Value>) =>
      async (path: string): Promise<Value> => {
        try {
          return await look(path);
        } catch (error) {
          isWhole &&= SETTLED.has((error as { readonly code?: unknown } | null)?.code);
          throw error;
        }
      };
    const { realPath, list } = this._lookup;
    const patterns = await readPatterns(rule, { ...this._lookup, realPath: watch(realPath), list: watch(list) });
    // Not cached: the next call may be able to read what could not be read now.
    if (!isWhole) this._patterns.delete(rule.text);
    return { ...patterns, isWhole };
  }
}

/** Longer than any path that a model would write, even with detours. */
const LONGEST_TEXT = 65_536;

/** Paths, and texts of tools that have no path field. */
function mayBePath({ kind, text }: MatchTarget): boolean {
  return kind === "path" || (kind === "text" && text.length <= LONGEST_TEXT);
}

type Fold = (text: string) => string;

function fall(
  patterns: SeenPatterns | undefined,
  path: SeenPath | undefined,
  { isSearch, fold }: { readonly isSearch: boolean; readonly fold: Fold },
): MatchResult {
  if (path === undefined || patterns === undefined) return "no";
  const { wide, isWhole } = patterns;
  if (wide.some((glob) => path.forms.some((form) => fits(glob, form, fold)))) return "certain";
  // A search that starts above the rule's folder reaches it as well.
  const isAbove = wide.some(([start = ""]) => path.places.some((place) => fold(start).startsWith(below(fold(place)))));
  return (isSearch && isAbove) || path.real === undefined || !isWhole ? "possible" : "no";
}

function below(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}

function fits(glob: Glob, text: string, fold: Fold): boolean {
  return matchesGlob(glob, text) || matchesGlob(glob.map(fold), fold(text));
}

async function readPatterns({ scope }: Rule, lookup: PathLookup): Promise<PathPatterns> {
  if (scope?.kind !== "text") return { wide: [], strict: [] };
  const realCwd = (await findReal(lookup.cwd, lookup)) ?? lookup.cwd;
  const read = await Promise.all(scope.patterns.map((glob) => readPattern(glob, lookup, realCwd)));
  return { wide: read.flatMap(({ wide }) => wide), strict: read.flatMap(({ strict }) => strict) };
}

async function readPattern(glob: Glob, lookup: PathLookup, realCwd: string): Promise<PathPatterns> {
  const [start = "", ...more] = glob;
  // Starts with `*`: it applies everywhere.
  if (start === "" && more.length > 0) return { wide: [glob], strict: [glob] };
  const plain = expandPath(start, lookup.home);
  if (plain === undefined) return { wide: [glob], strict: [] };
  const isAbsolute = isAbsolutePath(plain);
  const starts = isAbsolute ? [plain] : [`${lookup.cwd}/${plain}`, `${realCwd}/${plain}`];
  const straight = starts.map(straightStart);
  const followed = straight.map((one) => realStart(one, lookup));
  // A pattern without `*` names a single place, which may be a link itself.
  const named = more.length === 0 ? straight.map((one) => findReal(one, lookup)) : [];
  const real = (await Promise.all([...followed, ...named])).filter((one) => one !== undefined);
  const globs = (list: readonly string[]): readonly Glob[] => [...new Set(list)].map((one) => [one, ...more]);
  return {
    wide: [glob, ...globs([...straight, ...real])],
    strict: globs(isAbsolute ? [...straight, ...real.slice(0, straight.length)] : straight.slice(1)),
  };
}

/** The part of a pattern before its first `*`, with its folders normalised. Its end may be the beginning of a name. */
function straightStart(start: string): string {
  const cut = start.lastIndexOf("/") + 1;
  return `${straightPath(start.slice(0, cut)).replace(/\/$/, "")}/${start.slice(cut)}`;
}

async function realStart(start: string, lookup: PathLookup): Promise<string> {
  const cut = start.lastIndexOf("/") + 1;
  const folder = await findReal(start.slice(0, cut) === "/" ? "/" : start.slice(0, cut - 1), lookup);
  return folder === undefined ? start : `${folder.replace(/\/$/, "")}/${start.slice(cut)}`;
}
