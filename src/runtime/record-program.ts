import type { Backend, ModelBackend } from "#backends";
import { asksPerson, isPlainObject, present, StartError } from "#domain";
import { HIDDEN, isSecretRequestHeader, secretsOfData, secretsOfVariables } from "#secrets";
import { readSchema, type SchemaInput } from "#tools";
import { isBackend } from "./check-options.ts";
import { makingOf } from "./made-backend.ts";
import type { World } from "./world.ts";

/** Stands for a function in a tape's program: the answers to its calls are on the tape under this name. */
export interface CallMark {
  readonly $call: string;
  /** It asks a person, and therefore has no time limit. */
  readonly asksPerson?: true;
}

/** Stands for a model backend that was made by hand. */
export interface BackendMark {
  readonly $backend: {
    readonly name: string;
    readonly model: string;
    readonly path: string;
    readonly ignores?: readonly string[];
    readonly hasKnownPrices?: boolean;
    readonly nativeOutput?: CallMark;
  };
}

/** How the parts of a program that are not data are replaced. */
export interface Replacing {
  call(path: string, call: (...args: unknown[]) => unknown): unknown;
  backend(path: string, backend: Backend): unknown;
}

/** Options that do not affect what is run, or belong to this process alone. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "options.signal",
  "options.context",
  "options.record",
  "options.replay",
  "options.telemetry",
]);
const DEEPEST = 64;

/** The program as data, for the head of a tape: functions and backends as marks, keys and variables hidden. */
export function describeProgram(value: unknown, path: string): unknown {
  const marks: Replacing = {
    call: (place, call): CallMark => ({ $call: place, ...(asksPerson(call) && { asksPerson: true }) }),
    backend: markBackend,
  };
  return replaceCalls(value, path, { ...marks, hide: true }, 0);
}

function markBackend(path: string, given: Backend): BackendMark {
  const backend = requireModel(given);
  const { name, model, ignores, nativeOutput, hasKnownPrices } = backend;
  return {
    $backend: {
      name,
      model,
      path,
      ...present({ ignores, hasKnownPrices }),
      ...(nativeOutput !== undefined && { nativeOutput: { $call: `${path}.nativeOutput` } }),
    },
  };
}

/**
 * The same program, with every function and backend replaced. Only plain data is traversed: an instance of a class
 * stays as it is.
 */
export function replaceCalls(
  value: unknown,
  path: string,
  replacing: Replacing & { readonly hide?: boolean },
  depth = 0,
): unknown {
  const inner = (one: unknown, place: string): unknown => replaceCalls(one, place, replacing, depth + 1);
  if (isStandard(value)) return replaceSchema(value, path, replacing);
  if (typeof value === "function") return replacing.call(path, value as (...args: unknown[]) => unknown);
  // JSON cannot represent this number, and a limit may have it.
  if (value === Number.POSITIVE_INFINITY && replacing.hide === true) return { $number: "Infinity" };
  if (typeof value !== "object" || value === null) return value;
  if (isBackend(value)) return replaceBackend(value as Backend, path, replacing);
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return value.map((one, index) => inner(one, `${path}[${index}]`));
  if (!isPlainObject(value)) return replacing.hide === true ? undefined : value;
  const fields: [string, unknown][] = [];
  for (const [name, one] of Object.entries(value)) {
    const place = `${path}.${name}`;
    if (LEFT_OUT.has(place)) {
      if (replacing.hide !== true) fields.push([name, one]);
    } else if (name === "schema" && isStandard(one)) {
      fields.push([name, replaceStandard(one, place, replacing)]);
    } else if (replacing.hide === true && typeof one === "string" && isHidden(path, name)) {
      // A key is not needed for a replay, and the value of a variable is private.
      if (name !== "apiKey") fields.push([name, HIDDEN]);
    } else {
      fields.push([name, inner(one, place)]);
    }
  }
  return Object.fromEntries(fields);
}

function replaceBackend(backend: Backend, path: string, replacing: Replacing & { readonly hide?: boolean }): unknown {
  const making = makingOf(backend);
  if (making === undefined) return replacing.backend(path, backend);
  // Left as it is, because it is made again with the seams of the run.
  return replacing.hide === true ? replaceCalls(making.program, path, replacing) : backend;
}

/** The secrets in a program, including those of its backends: they are masked wherever else they appear. */
export function secretsOfProgram(program: unknown, env: World["env"]): readonly string[] {
  const variables = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return [
    ...secretsOfVariables(env),
    ...secretsOfData(program),
    ...backendsIn(program, 0).flatMap((backend) => backend.secrets?.(variables) ?? []),
  ];
}

function backendsIn(value: unknown, depth: number): readonly Backend[] {
  if (typeof value !== "object" || value === null || depth > DEEPEST) return [];
  if (isBackend(value)) return [value as Backend];
  if (!Array.isArray(value) && !isPlainObject(value)) return [];
  return Object.values(value).flatMap((one: unknown) => backendsIn(one, depth + 1));
}

function isHidden(path: string, name: string): boolean {
  return name === "apiKey" || path.endsWith(".env") || (path.endsWith(".headers") && isSecretRequestHeader(name));
}

/** A schema of a library: its JSON Schema, with its checks as calls. */
function replaceSchema(value: Standard, path: string, replacing: Replacing): unknown {
  const { jsonSchema } = readSchema(value as unknown as SchemaInput, path);
  return { schema: replaceStandard(value, path, replacing), jsonSchema };
}

interface Standard {
  readonly "~standard": { readonly validate: (value: unknown) => unknown };
}

function replaceStandard(value: Standard, path: string, replacing: Replacing): unknown {
  const standard = value["~standard"];
  const validate = replacing.call(`${path}.validate`, (given: unknown) => standard.validate(given));
  return { "~standard": { version: 1, vendor: "recorded", validate } };
}

function isStandard(value: unknown): value is Standard {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

function requireModel(backend: Backend): ModelBackend {
  if (backend.kind === "model") return backend;
  throw new StartError(
    "feature-unavailable",
    `The backend ${backend.name} was created in code, and what it does cannot be recorded. Give it by name, such as "${backend.name}".`,
  );
}
