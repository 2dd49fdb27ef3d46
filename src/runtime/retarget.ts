import type { Backend } from "#backends";
import { StartError } from "#domain";
import type { ConversationChanges } from "#sessions";
import { isBackend } from "./check-options.ts";
import type { Target } from "./plan-run.ts";
import { BACKEND_NAMES } from "./resolve-backend.ts";

/** The target with the models that were set in the course of a session. @throws StartError when one cannot be had. */
export function retarget(target: Target, { models = {} }: ConversationChanges): Target {
  const remodel = (backend: string | Backend, agent: string): string | Backend => {
    const model = Object.hasOwn(models, agent) ? models[agent] : undefined;
    return model === undefined ? backend : withModel(backend, model);
  };
  if (typeof target === "string") return remodel(target, "");
  if (isBackend(target)) return remodel(target as Backend, "");
  if ("agents" in target) {
    return { ...target, agents: target.agents.map((one) => ({ ...one, backend: remodel(one.backend, one.name) })) };
  }
  if ("backend" in target) return { ...target, backend: remodel(target.backend, target.name) };
  return target;
}

/** `anthropic/claude-x` is said in full; `claude-x` is another model of the same provider. */
function withModel(backend: string | Backend, model: string): string | Backend {
  const [first = ""] = model.split("/", 1);
  const isFull = BACKEND_NAMES.includes(first);
  if (typeof backend === "string") return isFull ? model : `${backend.split("/", 1)[0]}/${model}`;
  // One that was made by hand keeps its key, its address and its options.
  const isOwn = model.startsWith(`${backend.name}/`);
  if (isFull && !isOwn) return model;
  // Its conversation is told.
  if (backend.kind === "agent") return backend;
  if (backend.withModel !== undefined) return backend.withModel(isOwn ? model.slice(first.length + 1) : model);
  throw new StartError(
    "feature-unavailable",
    `setModel cannot be had on ${backend.name}: this backend was made for the model ${backend.model} alone. Open another session with a backend for ${model}.`,
  );
}
