import { access } from "node:fs/promises";
import { resolve } from "node:path";
import {
  acceptanceCriteria,
  consistency,
  errorScenarios,
  type Scorer,
  type SectionName,
  sectionCompleteness,
} from "#compare";
import { nearestName } from "#domain";
import { loadExports } from "./load-tools.ts";
import { usageError } from "./usage-error.ts";

/** Loads the scorers that `--scorer` names: built-in ones, or those exported by modules. */
export async function loadScorers(
  names: readonly string[],
  { cwd, sections }: { readonly cwd: string; readonly sections?: readonly (string | SectionName)[] | undefined },
): Promise<readonly Scorer[]> {
  const builtIn: Readonly<Record<string, () => Scorer>> = {
    sections: () => sectionCompleteness(sections === undefined ? {} : { sections }),
    "acceptance-criteria": acceptanceCriteria,
    "error-scenarios": () => errorScenarios(),
    consistency,
  };
  const lists = await Promise.all(
    names.map(async (name) => {
      if (Object.hasOwn(builtIn, name)) return [(builtIn[name] as () => Scorer)()];
      return await loadModule(name, cwd, Object.keys(builtIn));
    }),
  );
  return lists.flat();
}

async function loadModule(name: string, cwd: string, known: readonly string[]): Promise<readonly Scorer[]> {
  const file = resolve(cwd, name);
  await access(file).catch((error: unknown) => {
    const near = nearestName(name, known);
    const guess = near === undefined ? "" : ` Did you mean ${near}?`;
    throw usageError(
      `--scorer ${name}: there is no such scorer and no such file (${file}).${guess} Built in: ${known.join(", ")}.`,
      error,
    );
  });
  const scorers = (await loadExports(`--scorer ${name}`, file)).filter(isScorer);
  if (scorers.length > 0) return scorers;
  throw usageError(`--scorer ${name} exports no scorer. Export { name, score } objects, alone or in lists.`);
}

function isScorer(value: unknown): value is Scorer {
  return typeof value === "object" && value !== null && "name" in value && "score" in value;
}
