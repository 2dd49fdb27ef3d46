import { parsePath } from "./json-path/parse-path.ts";
import { selectValues } from "./json-path/select.ts";
import { stepsOf } from "./json-path/syntax.ts";
import { compileSteps, type Path } from "./steps.ts";

/**
 * Compiles a JSONPath of RFC 9535 without functions: `match` and `search` would run the author's regular expressions.
 * One that can only ever find one node is walked as steps, which is faster.
 *
 * A path whose reading would cost more than `MAX_PATH_EFFORT` finds nothing: half of a list would pass for the whole.
 *
 * @throws StartError `invalid-format`
 */
export function compileRfcPath(source: string, where: string): Path {
  const segments = parsePath(source, where);
  const steps = stepsOf(segments);
  if (steps !== undefined) return compileSteps(source, steps);
  return {
    source,
    collects: true,
    read: (value) => {
      const values = selectValues(segments, value) ?? [];
      return values.length > 1 ? values : values[0];
    },
  };
}
