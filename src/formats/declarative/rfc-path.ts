import { describeThrown } from "#domain";
import { JSONPathEnvironment, type JSONPathQuery, type JSONValue, jsonpath, TokenKind } from "json-p3";
import { MAX_BRANCHES, MAX_DESCENT_DEPTH } from "./limits.ts";
import { RESERVED_NAMES, refuse } from "./refusal.ts";
import { compileSteps, type Path, type Step } from "./steps.ts";

const { FilterSelector, IndexSelector, NameSelector } = jsonpath.selectors;
const { FilterExpressionLiteral, InfixExpression, LogicalExpression, PrefixExpression, RelativeQuery } =
  jsonpath.expressions;

/**
 * Compiles a JSONPath of RFC 9535. One that can only ever find one node is walked by us, which is faster; the others
 * are read by the library.
 *
 * Refused, because their cost is not linear in the frame: functions (`match` and `search` run the author's regular
 * expressions), a second `..`, filters that look elsewhere than at `@.names[0]`, lists of selectors that multiply.
 *
 * @throws StartError `invalid-format`
 */
export function compileRfcPath(source: string, where: string): Path {
  const query = compile(source, where);
  checkQuery(query, { source, where });
  if (query.singularQuery()) return compileSteps(source, stepsOf(query));
  return { source, collects: true, read: (value) => readNodes(query, value) };
}

function compile(source: string, where: string): JSONPathQuery {
  // Depth counts from 1 and the limit itself is refused there.
  const environment = new JSONPathEnvironment({ strict: true, maxRecursionDepth: MAX_DESCENT_DEPTH + 1 });
  environment.functionRegister.clear();
  try {
    return environment.compile(source);
  } catch (thrown) {
    return refuse(
      where,
      source,
      `is not a JSONPath: ${describeThrown(thrown)}`,
      "See RFC 9535; functions are left out.",
    );
  }
}

/** The lazy reading, because the eager one passes a list's items as arguments and overflows on long lists. */
function readNodes(query: JSONPathQuery, value: unknown): unknown {
  if (value === undefined) return undefined;
  const values: unknown[] = [];
  try {
    for (const node of query.lazyQuery(value as JSONValue)) values.push(node.value);
  } catch {
    // Only the depth limit of `..` throws here: what lies deeper than that is not found.
    return undefined;
  }
  return values.length > 1 ? values : values[0];
}

function stepsOf(query: JSONPathQuery): Step[] {
  const steps: Step[] = [];
  for (const segment of query.segments) {
    const selector = segment.selectors[0];
    if (selector instanceof NameSelector) steps.push({ name: selector.name });
    else if (selector instanceof IndexSelector) steps.push({ index: selector.index });
  }
  return steps;
}

interface Origin {
  readonly source: string;
  readonly where: string;
}

function checkQuery(query: JSONPathQuery, origin: Origin): void {
  let descents = 0;
  let branches = 1;
  for (const segment of query.segments) {
    if (segment.token.kind === TokenKind.DDOT) descents += 1;
    branches *= segment.selectors.length;
    for (const selector of segment.selectors) {
      if (selector instanceof NameSelector) checkName(selector.name, origin);
      else if (selector instanceof FilterSelector) checkFilter(selector.expression, origin);
    }
  }
  const { source, where } = origin;
  if (descents > 1) refuse(where, source, 'has ".." more than once', "Name the way to the value.");
  if (branches > MAX_BRANCHES) {
    refuse(where, source, `branches into ${branches} ways`, `At most ${MAX_BRANCHES}. Use a list of paths.`);
  }
}

function checkFilter(expression: unknown, origin: Origin): void {
  if (expression instanceof LogicalExpression) checkFilter(expression.expression, origin);
  else if (expression instanceof PrefixExpression) checkFilter(expression.right, origin);
  else if (expression instanceof InfixExpression) {
    checkFilter(expression.left, origin);
    checkFilter(expression.right, origin);
  } else if (expression instanceof RelativeQuery && expression.path.singularQuery()) {
    checkQuery(expression.path, origin);
  } else if (!(expression instanceof FilterExpressionLiteral)) {
    refuse(
      origin.where,
      origin.source,
      "has a filter that looks beyond its own item",
      "Use only @.names and @[0] in it.",
    );
  }
}

function checkName(name: string, origin: Origin): void {
  if (!RESERVED_NAMES.has(name)) return;
  refuse(origin.where, origin.source, `goes through ${JSON.stringify(name)}`, "That name is never read. Leave it out.");
}
