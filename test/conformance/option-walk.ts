import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../../scripts/set-up.mjs";

/** A place where a public function takes named options: a parameter of it, or an object within. */
export interface OptionPlace {
  /** The function and its parameter: `run(options)`, `Session.send(options)`. */
  readonly call: string;
  /** The way to the object within the parameter; `[]` stands for the entry of a list, `*` for any name. */
  readonly path: readonly string[];
  /** The names that the types know there. */
  readonly names: readonly string[];
}

/**
 * What stands for something else than named options: values that a run or a format gives, things that are made by a
 * function of ours, and contracts that a caller implements with whatever else his object holds.
 */
const VALUES: ReadonlySet<string> = new Set([
  ...["AgentBackend", "ModelBackend", "Swarm", "Tool", "Format", "Store", "Sink", "Tape", "World", "Tap", "Scorer"],
  ...["Clock", "Random", "FileSystem", "Files", "TelemetryTracer", "TelemetryMeter", "TelemetryApi", "AbortSignal"],
  ...["StandardSchema", "ShownSchema", "Usage", "Message", "RunResult", "Error", "Uint8Array", "CompareDocument"],
]);

const entries = Object.values(
  (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { exports: Record<string, unknown> }).exports,
).flatMap((entry) =>
  typeof entry === "object" && entry !== null && "default" in entry
    ? [join(ROOT, String(entry.default).replace("./dist/", "src/").replace(/\.js$/, ".ts"))]
    : [],
);
const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
  config: unknown;
};

/** Every place where an export of the package, or a method of an exported interface, takes an object of names. */
export function walkOptions(): readonly OptionPlace[] {
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(entries, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const places = new Map<string, OptionPlace>();
  for (const entry of entries) {
    const source = program.getSourceFile(entry);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${entry} is not a module.`);
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if (symbol.flags & ts.SymbolFlags.Value) {
        addCalls(exported.name, checker.getTypeOfSymbol(symbol), false);
      } else if (symbol.flags & ts.SymbolFlags.Interface) {
        for (const member of checker.getDeclaredTypeOfSymbol(symbol).getProperties()) {
          addCalls(`${exported.name}.${member.name}`, checker.getTypeOfSymbol(member), true);
        }
      }
    }
  }
  return [...places.values()];

  function addCalls(name: string, type: ts.Type, isMethod: boolean): void {
    const called = checker.getNonNullableType(type);
    for (const signature of [...called.getCallSignatures(), ...called.getConstructSignatures()]) {
      for (const parameter of signature.parameters) {
        const found = objectsOf(checker.getTypeOfSymbol(parameter));
        // Of methods, what looks like options: contracts have many methods that take values.
        const isWanted = (one: ts.Type): boolean => !isMethod || nameOf(one).endsWith("Options") || isWeak(one);
        const wanted = found.filter(({ inner, type: one }) => (!isMethod || inner.length === 0) && isWanted(one));
        addPlaces(`${name}(${parameter.name})`, [], wanted, []);
      }
    }
  }

  function addPlaces(call: string, path: readonly string[], found: readonly Found[], trail: readonly ts.Type[]): void {
    for (const { inner, type } of found) {
      if (trail.includes(type)) continue;
      const here = [...path, ...inner];
      const key = `${call} ${here.join(".")}`;
      const members = type.getProperties();
      const names = new Set([...(places.get(key)?.names ?? []), ...members.map((member) => member.name)]);
      places.set(key, { call, path: here, names: [...names] });
      for (const member of members) {
        addPlaces(call, [...here, member.name], objectsOf(checker.getTypeOfSymbol(member)), [...trail, type]);
      }
    }
  }

  interface Found {
    readonly inner: readonly string[];
    readonly type: ts.Type;
  }

  /** The objects of names that a type allows, behind lists and records. */
  function objectsOf(given: ts.Type, depth = 0): readonly Found[] {
    // Schemas in the short notation hold each other without end.
    if (depth > 3) return [];
    const within = (inner: ts.Type): readonly Found[] => objectsOf(inner, depth + 1);
    const type = checker.getNonNullableType(checker.getBaseConstraintOfType(given) ?? given);
    if (type.isUnion()) return type.types.flatMap(within);
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) || VALUES.has(nameOf(type))) return [];
    if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return [];
    if (checker.isArrayType(type) || checker.isTupleType(type)) {
      const [entry] = checker.getTypeArguments(type as ts.TypeReference);
      return entry === undefined ? [] : within(entry).map((one) => ({ ...one, inner: ["[]", ...one.inner] }));
    }
    const members = type.getProperties();
    const record = members.length === 0 ? type.getStringIndexType() : undefined;
    if (record !== undefined) return within(record).map((one) => ({ ...one, inner: ["*", ...one.inner] }));
    const isPlain = members.length > 0 && !members.some((member) => member.name.startsWith("__@"));
    return isPlain ? [{ inner: [], type }] : [];
  }
}

const nameOf = (type: ts.Type): string => (type.aliasSymbol ?? type.symbol)?.name ?? "";

const isWeak = (type: ts.Type): boolean =>
  type.getProperties().every((member) => (member.flags & ts.SymbolFlags.Optional) !== 0);
