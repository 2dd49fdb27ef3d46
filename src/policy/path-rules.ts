import { type Glob, matchesGlob } from "./matcher.ts";
import { composed, foldPath, isFoundInOtherCase } from "./path-names.ts";
import { straightPath } from "./path-match.ts";
import { expandPath, findReal, isAbsolutePath, type PathLookup, type SeenPath, seePath } from "./path-lookup.ts";
import type { Rule } from "./rule.ts";
import type { Certainty } from "./shell-match.ts";
import type { MatchTarget } from "./match-targets.ts";

/** Rules and the paths of one call, seen on the disk. */
export interface SeenPaths {
  /** How surely a path falls under a rule that denies or asks. `isSearch`: everything below it is looked at. */
  falls(rule: Rule, text: string, isSearch: boolean): Certainty;
  /** Whether rules that allow cover everything a path leads to. */
  covers(rules: readonly Rule[], text: string): boolean;
}

/** The patterns of a rule as absolute paths. */
interface PathPatterns {
  /** As they are written, and with the links of the folders in them followed. */
  readonly wide: readonly Glob[];
  /** Below the real working folder, or absolute: a link inside the working folder opens no other one. */
  readonly strict: readonly Glob[];
}

/** The patterns of a rule, and whether they are all there are. */
interface SeenPatterns extends PathPatterns {
  /** `false`: the disk could not be looked at, so that any path may be one that the rule is about. */
  readonly isWhole: boolean;
}

/** Failures that say how a path is, and will say it again. With any other one nobody knows where the path leads. */
const SETTLED: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG"]);

/** Holds rules against real paths. What a rule stands for is looked up once. */
export class PathRules {
  private readonly _sight: PathLookup;
  private readonly _patterns = new Map<string, Promise<SeenPatterns>>();

  constructor(sight: PathLookup) {
    this._sight = sight;
  }

  /** Looks up what rules are to be held against. `cwd`: where the call itself stands, if that is known. */
  async see(rules: readonly Rule[], subjects: readonly MatchTarget[], cwd: string | undefined): Promise<SeenPaths> {
    const bases = cwd === undefined || cwd === this._sight.cwd ? [this._sight.cwd] : [this._sight.cwd, cwd];
    const texts = [...new Set(subjects.filter(mayBePath).map(({ text }) => text))];
    const paths = new Map<string, SeenPath>();
    await Promise.all(texts.map(async (text) => paths.set(text, await seePath(text, this._sight, bases))));
    const patterns = new Map<Rule, SeenPatterns>();
    await Promise.all(rules.map(async (rule) => patterns.set(rule, await this._patternsOf(rule))));
    const { ignoresCase } = this._sight;
    const twins = ignoresCase ? new Set<string>() : await this._findTwins(patterns, paths);
    const spelling = (text: string): Fold => (ignoresCase || twins.has(text) ? foldPath : composed);
    return {
      falls: (rule, text, isSearch) => fall(patterns.get(rule), paths.get(text), { isSearch, fold: spelling(text) }),
      covers: (allowing, text) => {
        const strict = allowing.flatMap((rule) => patterns.get(rule)?.strict ?? []);
        const real = paths.get(text)?.real;
        const fold: Fold = ignoresCase ? (path) => composed(path).toLowerCase() : (path) => path;
        return real?.every((path) => strict.some((glob) => fits(glob, path, fold))) === true;
      },
    };
  }

  /** Texts that fall under a rule but for the capitals, on a disk that does not count these. */
  private async _findTwins(
    patterns: ReadonlyMap<Rule, SeenPatterns>,
    paths: ReadonlyMap<string, SeenPath>,
  ): Promise<ReadonlySet<string>> {
    const wide = [...patterns.values()].flatMap((one) => one.wide);
    const twins = new Set<string>();
    for (const [text, { forms, places }] of paths) {
      const isTwin = wide.some((glob) => forms.some((form) => !matchesGlob(glob, form) && fits(glob, form, foldPath)));
      if (!isTwin) continue;
      for (const place of places) if (await isFoundInOtherCase(place, this._sight)) twins.add(text);
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
    const { realPath, list } = this._sight;
    const patterns = await readPatterns(rule, { ...this._sight, realPath: watch(realPath), list: watch(list) });
    // What could not be looked at now may be with the next call.
    if (!isWhole) this._patterns.delete(rule.text);
    return { ...patterns, isWhole };
  }
}

/** Paths, and short texts of tools that have no field for one. */
function mayBePath({ kind, text }: MatchTarget): boolean {
  return kind === "path" || (kind === "text" && text.length <= 1_024 && !/[\n{]/.test(text));
}

type Fold = (text: string) => string;

function fall(
  patterns: SeenPatterns | undefined,
  path: SeenPath | undefined,
  { isSearch, fold }: { readonly isSearch: boolean; readonly fold: Fold },
): Certainty {
  if (path === undefined || patterns === undefined) return "no";
  const { wide, isWhole } = patterns;
  if (wide.some((glob) => path.forms.some((form) => fits(glob, form, fold)))) return "certain";
  // A search above what a rule is about comes to it as well.
  const isAbove = wide.some(([start = ""]) => path.places.some((place) => fold(start).startsWith(below(fold(place)))));
  return (isSearch && isAbove) || path.real === undefined || !isWhole ? "possible" : "no";
}

function below(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}

function fits(glob: Glob, text: string, fold: Fold): boolean {
  return matchesGlob(glob, text) || matchesGlob(glob.map(fold), fold(text));
}

async function readPatterns({ scope }: Rule, sight: PathLookup): Promise<PathPatterns> {
  if (scope?.kind !== "text") return { wide: [], strict: [] };
  const realCwd = (await findReal(sight.cwd, sight)) ?? sight.cwd;
  const read = await Promise.all(scope.patterns.map((glob) => readPattern(glob, sight, realCwd)));
  return { wide: read.flatMap(({ wide }) => wide), strict: read.flatMap(({ strict }) => strict) };
}

async function readPattern(glob: Glob, sight: PathLookup, realCwd: string): Promise<PathPatterns> {
  const [start = "", ...more] = glob;
  // Begins with any text: it is about every place.
  if (start === "" && more.length > 0) return { wide: [glob], strict: [glob] };
  const plain = expandPath(start, sight.home);
  if (plain === undefined) return { wide: [glob], strict: [] };
  const isAbsolute = isAbsolutePath(plain);
  const starts = isAbsolute ? [plain] : [`${sight.cwd}/${plain}`, `${realCwd}/${plain}`];
  const straight = starts.map(straightStart);
  const followed = straight.map((one) => realStart(one, sight));
  // A pattern without `*` names a place, which may be a link itself.
  const named = more.length === 0 ? straight.map((one) => findReal(one, sight)) : [];
  const real = (await Promise.all([...followed, ...named])).filter((one) => one !== undefined);
  const globs = (list: readonly string[]): readonly Glob[] => [...new Set(list)].map((one) => [one, ...more]);
  return {
    wide: [glob, ...globs([...straight, ...real])],
    strict: globs(isAbsolute ? [...straight, ...real.slice(0, straight.length)] : straight.slice(1)),
  };
}

/** The beginning of a pattern up to its first `*`: folders without detours, and what may be the beginning of a name. */
function straightStart(start: string): string {
  const cut = start.lastIndexOf("/") + 1;
  return `${straightPath(start.slice(0, cut)).replace(/\/$/, "")}/${start.slice(cut)}`;
}

async function realStart(start: string, sight: PathLookup): Promise<string> {
  const cut = start.lastIndexOf("/") + 1;
  const folder = await findReal(start.slice(0, cut) === "/" ? "/" : start.slice(0, cut - 1), sight);
  return folder === undefined ? start : `${folder.replace(/\/$/, "")}/${start.slice(cut)}`;
}
