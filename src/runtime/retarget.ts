import type { Backend } from "#backends";
import { StartError } from "#domain";
import type { ConversationChanges } from "#sessions";
import { isBackend } from "./check-options.ts";
import type { Target } from "./plan-run.ts";
import { BACKEND_NAMES } from "./resolve-backend.ts";

/**
 * The target with the models that were set during a session.
 * @throws StartError when one is not available.
 */
export function retarget(target: Target, { models = {} }: ConversationChanges): Target {
  const remodel = (backend: string | Backend, agent: string): string | Backend => {
    const model = Object.hasOwn(models, agent) ? models[agent] : undefined;
    return model === undefined ? backend : withModel(backend, model);
  };
  if (typeof target === "string") return remodel(target, "");
  if (isBackend(target)) return remodel(target as Backend, "");
  // `planRun` reports something that is no target at all.
  if (typeof target !== "object" || target === null) return target;
  if ("agents" in target) {
    return { ...target, agents: target.agents.map((one) => ({ ...one, backend: remodel(one.backend, one.name) })) };
  }
  if ("backend" in target) return { ...target, backend: remodel(target.backend, target.name) };
  return target;
}

/** `anthropic/claude-x` is a full name; `claude-x` is another model of the same provider. */
function withModel(backend: string | Backend, model: string): string | Backend {
  const [first = ""] = model.split("/", 1);
  const isFull = BACKEND_NAMES.includes(first);
  if (typeof backend === "string") return isFull ? model : `${backend.split("/", 1)[0]}/${model}`;
  // A backend made by hand keeps its key, its address and its options.
  const isOwn = model.startsWith(`${backend.name}/`);
  if (isFull && !isOwn) return model;
  // Its conversation changes the model.
  if (backend.kind === "agent") return backend;
  if (backend.withModel !== undefined) return backend.withModel(isOwn ? model.slice(first.length + 1) : model);
  throw new StartError(
    "feature-unavailable",
    `setModel is not available on ${backend.name}: this backend was created for the model ${backend.model} alone. Open another session with a backend for ${model}.`,
  );
}
