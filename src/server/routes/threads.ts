import { ApiError } from "../api-error.ts";
import { answerJson } from "../json-response.ts";
import { requireOffered } from "../options.ts";
import { noteAction, requireThread, type ServerContext, type ServerParts, showThread } from "../parts.ts";
import { readBody, readTextField, requireFields } from "../request-body.ts";

const LONGEST_TITLE = 200;
const LONGEST_TARGET = 200;
const LONGEST_SEARCH = 200;
const MOST_THREADS = 200;

export async function createThread(context: ServerContext, parts: ServerParts): Promise<Response> {
  const { settings, store, quota } = parts;
  const body = await readBody(context.req.raw, settings.limits, true);
  requireFields(body, ["target", "title"]);
  const target = readTextField(body, "target", LONGEST_TARGET) ?? settings.target;
  requireOffered(target, settings);
  const thread = {
    id: settings.world.random.id(),
    tenant: context.get("tenant"),
    title: readTitle(body, parts) ?? "",
    target,
    createdAt: settings.world.clock.now(),
  };
  await quota.inTurn(thread.tenant, async () => {
    await requireRoom(thread.tenant, parts);
    await store.createThread(thread);
  });
  const shown = showThread({ ...thread, updatedAt: thread.createdAt, usage: {} });
  // Relative to the path of the request, because the server may be behind a prefix that it does not know.
  return context.json(shown, 201, { location: `threads/${thread.id}` });
}

async function requireRoom(tenant: string, { store, settings, quota }: ServerParts): Promise<void> {
  await quota.require(tenant);
  const { threadsPerTenant } = settings.limits;
  const kept = (await store.countThreads?.(tenant)) ?? 0;
  if (kept < threadsPerTenant) return;
  throw new ApiError(
    "quota-exceeded",
    `You have ${kept} threads, and ${threadsPerTenant} are allowed (limits.threadsPerTenant). Remove some first.`,
  );
}

export async function listThreads(context: ServerContext, { store }: ServerParts): Promise<Response> {
  const query = context.req.query();
  const search = query["q"] ?? "";
  if (search.length > LONGEST_SEARCH) {
    throw new ApiError("invalid-request", `q has more than ${LONGEST_SEARCH} characters.`);
  }
  const limit = query["limit"] === undefined ? 50 : Number(query["limit"]);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_THREADS) {
    throw new ApiError("invalid-request", `limit must be a whole number from 1 to ${MOST_THREADS}.`);
  }
  const before = query["before"];
  const page = await store.listThreads({
    tenant: context.get("tenant"),
    search,
    limit,
    ...(before !== undefined && { before }),
  });
  return context.json({ ...page, threads: page.threads.map(showThread) });
}

export async function getThread(context: ServerContext, parts: ServerParts): Promise<Response> {
  const thread = await requireThread(context, parts);
  const [messages, runs, usage] = await Promise.all([
    parts.store.listMessages(thread.tenant, thread.id),
    parts.store.listRuns({ threadId: thread.id }),
    parts.store.listUsage(thread.tenant, thread.id),
  ]);
  return answerJson(context, parts, {
    thread: showThread(thread),
    messages,
    runs: runs.map(({ id, status, lastSeq }) => ({ id, status: status ?? "running", lastSeq })),
    usage,
  });
}

export async function getMessages(context: ServerContext, parts: ServerParts): Promise<Response> {
  const thread = await requireThread(context, parts);
  return answerJson(context, parts, { messages: await parts.store.listMessages(thread.tenant, thread.id) });
}

/** A title is shown to others later, so the server's secrets are masked in it, as in a message. */
function readTitle(body: Readonly<Record<string, unknown>>, { settings }: ServerParts): string | undefined {
  const title = readTextField(body, "title", LONGEST_TITLE);
  return title && (settings.secrets?.text(title) ?? title);
}

export async function renameThread(context: ServerContext, parts: ServerParts): Promise<Response> {
  const thread = await requireThread(context, parts);
  const body = await readBody(context.req.raw, parts.settings.limits);
  requireFields(body, ["title"]);
  const title = readTitle(body, parts);
  if (title === undefined) throw new ApiError("invalid-request", "title is missing. Nothing else can be changed.");
  await parts.store.renameThread(thread.tenant, thread.id, { title, at: parts.settings.world.clock.now() });
  return context.json(showThread(await requireThread(context, parts)));
}

export async function removeThread(context: ServerContext, parts: ServerParts): Promise<Response> {
  const { id, tenant } = await requireThread(context, parts);
  await parts.store.removeThread(tenant, id);
  await parts.warm.drop(id);
  const at = parts.settings.world.clock.now();
  await noteAction(parts, { at, tenant, action: "thread-removed", threadId: id, by: "user" });
  return context.body(null, 204);
}
