import { type Clock, type Random, unreachable } from "#domain";
import type { JsonRecord } from "#wire";
import { anthropicProtocol } from "./anthropic/anthropic.ts";
import type { Fault } from "./fault.ts";
import { finishReply } from "./finish-reply.ts";
import { geminiProtocol } from "./gemini/gemini.ts";
import { createHeaderFaults } from "./header-fault.ts";
import { createIds, type Ids } from "./ids.ts";
import { encodeModels, refuseMissing } from "./models.ts";
import { chatProtocol } from "./openai-chat/openai-chat.ts";
import { createResponsesProtocol } from "./openai-responses/openai-responses.ts";
import { pause, waitForAbort } from "./body.ts";
import type { ModelPrompt, ProtocolName } from "./prompt.ts";
import type { Protocol } from "./protocol.ts";
import { Refusal } from "./refusal.ts";
import type { Reply, ReplyCall } from "./reply.ts";
import { type ApiRequest, type ApiResponse, readJsonBody } from "./request.ts";
import { respondJson, respondReply, respondStatus } from "./respond.ts";
import { type Route, routeOf, type Vendor } from "./routes.ts";
import { answerByRules } from "./rule-model/rule-model.ts";
import type { ScriptPlayer } from "./script.ts";
import { estimatePrompt, estimateTokens } from "./tokens.ts";

/** Answers one request. Rejects only with the reason of the request's signal. */
export type Answer = (request: ApiRequest) => Promise<ApiResponse>;

interface Answering {
  readonly script: ScriptPlayer;
  readonly strict: boolean;
  readonly models: readonly string[];
  readonly clock: Clock;
  readonly random: Random | undefined;
}

/** One request being answered. */
interface Exchange {
  readonly request: ApiRequest;
  readonly ids: Ids;
  /** The fault that its header requests. */
  readonly fault: Fault | undefined;
}

/** Creates the function that answers requests from sockets and from the in-process fetch. */
export function createAnswer(answering: Answering): Answer {
  const { script, strict, models, clock, random } = answering;
  const protocols: Readonly<Record<ProtocolName, Protocol>> = {
    anthropic: anthropicProtocol,
    "openai-chat": chatProtocol,
    "openai-responses": createResponsesProtocol(),
    gemini: geminiProtocol,
  };
  const headerFaults = createHeaderFaults();
  let count = 0;

  const readBody = (protocol: Protocol, request: ApiRequest): JsonRecord => {
    const given = readJsonBody(request, strict);
    const body = protocol.memory?.expand(given) ?? given;
    if (strict) protocol.check(request, body);
    return body;
  };

  const generate = async (protocol: Protocol, exchange: Exchange): Promise<ApiResponse> => {
    const { request, ids } = exchange;
    const body = readBody(protocol, request);
    const prompt = protocol.read(request, body);
    refuseMissing(prompt.model);
    const scripted = script.answer(prompt);
    const fault: Fault = { ...scripted.fault, ...exchange.fault };
    const reply = scripted.reply ?? limitReply(answerByRules(prompt), prompt);
    await hold((fault.delayMs ?? 0) + (reply.delayMs ?? 0), fault, request.signal);
    if (fault.status !== undefined) return respondStatus(fault, { errors: protocol.errors, requestId: ids.next() });
    const finished = finishReply(reply, { prompt, ids, nowMs: clock.now(), duplicateIds: fault.duplicateIds === true });
    protocol.memory?.remember(finished, body);
    return respondReply(finished, {
      protocol,
      request,
      body,
      prompt,
      fault,
      clock,
      requestId: ids.next(),
      betweenMs: reply.betweenMs ?? 0,
    });
  };

  const answerRoute = async (route: Route, exchange: Exchange): Promise<ApiResponse> => {
    const { request, ids } = exchange;
    switch (route.kind) {
      case "generate":
        return await generate(protocols[route.protocol], exchange);
      case "count": {
        const protocol = protocols[route.protocol];
        const prompt = protocol.read(request, readBody(protocol, request));
        const tokens = Math.max(1, estimatePrompt(prompt));
        const counted = route.protocol === "anthropic" ? { input_tokens: tokens } : { totalTokens: tokens };
        return respondJson(200, counted, protocol.errors.headers(ids.next()));
      }
      case "models":
        return respondJson(
          200,
          encodeModels(route.vendor, models, route.id),
          speaker(protocols, route).errors.headers(ids.next()),
        );
      case "health":
        return respondJson(200, { status: "ok", server: "millrace offline model server" }, {});
      case "wrong-method":
        throw new Refusal("wrong-method", `${request.method} is not possible here. Use ${route.allowed}.`);
      case "unknown":
        throw new Refusal("not-found", `There is nothing at ${request.method} ${request.path.slice(0, 200)}.`);
      default:
        return unreachable(route);
    }
  };

  const hold = async (ms: number, fault: Fault, signal: AbortSignal): Promise<void> => {
    if (ms > 0) await pause(clock, ms, signal);
    if (fault.stallBeforeHeaders === true) await waitForAbort(signal);
  };

  return async (request) => {
    count += 1;
    const ids = createIds({ body: request.body, count }, random);
    const route = routeOf(request);
    const protocol = speaker(protocols, route);
    try {
      const fault = headerFaults.take(request.headers);
      if (strict && route.kind !== "health" && route.kind !== "unknown") protocol.checkKey(request);
      if (fault?.status !== undefined && route.kind !== "generate") {
        await hold(fault.delayMs ?? 0, fault, request.signal);
        return respondStatus(fault, { errors: protocol.errors, requestId: ids.next() });
      }
      return await answerRoute(route, { request, ids, fault });
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      const requestId = ids.next();
      return respondJson(
        protocol.errors.status(thrown),
        protocol.errors.encode(thrown, requestId),
        protocol.errors.headers(requestId),
      );
    }
  };
}

/** The protocol in which a request is answered or refused. */
function speaker(protocols: Readonly<Record<ProtocolName, Protocol>>, route: Route): Protocol {
  if (route.kind === "generate" || route.kind === "count") return protocols[route.protocol];
  const names: Readonly<Record<Vendor, ProtocolName>> = {
    anthropic: "anthropic",
    openai: "openai-chat",
    google: "gemini",
  };
  return protocols[route.kind === "health" ? "openai-chat" : names[route.vendor]];
}

/** A reply cut as the request demands: at a stop sequence, or at the token limit. */
function limitReply(reply: Reply, prompt: ModelPrompt): Reply & { readonly stopSequence?: string } {
  return limitTokens(limitStop(reply, prompt.stopSequences), prompt.maxTokens);
}

function limitStop(reply: Reply, sequences: readonly string[]): Reply & { readonly stopSequence?: string } {
  const text = reply.text ?? "";
  let at = text.length;
  let found: string | undefined;
  for (const sequence of sequences) {
    const index = sequence === "" ? -1 : text.indexOf(sequence);
    if (index !== -1 && index < at) {
      at = index;
      found = sequence;
    }
  }
  if (found === undefined) return reply;
  const { toolCalls: _, ...rest } = reply;
  return { ...rest, text: text.slice(0, at), stopReason: "stop-sequence", stopSequence: found };
}

function limitTokens(reply: Reply, maxTokens: number | undefined): Reply {
  if (maxTokens === undefined) return reply;
  const text = reply.text ?? "";
  let left = maxTokens - estimateTokens(text);
  if (left < 0) {
    const { toolCalls: _, ...rest } = reply;
    return { ...rest, text: text.slice(0, maxTokens * 4), stopReason: "max-tokens" };
  }
  const calls: ReplyCall[] = [];
  for (const call of reply.toolCalls ?? []) {
    const json = JSON.stringify(call.input ?? {});
    left -= estimateTokens(call.name);
    if (left <= 0) return { ...reply, toolCalls: calls, stopReason: "max-tokens" };
    if (estimateTokens(json) > left) {
      // The model was cut off while writing: the arguments so far are sent and are not JSON.
      return {
        ...reply,
        toolCalls: [...calls, { name: call.name, json: json.slice(0, left * 4) }],
        stopReason: "max-tokens",
      };
    }
    left -= estimateTokens(json);
    calls.push(call);
  }
  return reply;
}
