import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/set-up.mjs";

// The names users can import. A change here is a change for them: make it on purpose, with a line in CHANGELOG.md.
// `npx vitest run test/pins/built/exports.test.ts -u` writes the names as they are now.

const ENTRIES = [
  "index",
  "runtime/anthropic",
  "runtime/openai",
  "runtime/google",
  "formats/index",
  "views/index",
  "testing/index",
  "sinks/index",
  "emulator/index",
  "runtime/claude-code",
  "server/index",
  "runtime/durable",
  "runtime/queues/bullmq",
  "runtime/queues/in-process",
  "runtime/queues/pg-boss",
  "runtime/stores/memory",
  "runtime/stores/sqlite",
  "compare/index",
];
const program = ts.createProgram(
  ENTRIES.map((entry) => join(ROOT, "dist", `${entry}.d.ts`)),
  { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, types: [], skipLibCheck: true },
);

/** The names an entry exports: values, and types alone. */
function readNames(entry: string): { values: string[]; types: string[] } {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(join(ROOT, "dist", `${entry}.d.ts`));
  const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (symbol === undefined) throw new Error(`dist/${entry}.d.ts is not a module.`);
  const values: string[] = [];
  const types: string[] = [];
  for (const found of checker.getExportsOfModule(symbol)) {
    const target = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
    const isTypeOnly = found.declarations?.some(
      (declaration) => ts.isExportSpecifier(declaration) && ts.isTypeOnlyExportDeclaration(declaration),
    );
    (target.flags & ts.SymbolFlags.Value && !isTypeOnly ? values : types).push(found.name);
  }
  return { values: values.sort(), types: types.sort() };
}

describe("S1-142: exports", () => {
  it("millrace", () => {
    expect(readNames("index")).toMatchInlineSnapshot(`
      {
        "types": [
          "AfterToolOccasion",
          "Agent",
          "AgentBackend",
          "AgentControl",
          "AgentConversation",
          "AgentEvent",
          "AgentFeature",
          "AgentLink",
          "AgentSettings",
          "AgentToolOptions",
          "Artifact",
          "Backend",
          "BeforeStopOccasion",
          "BeforeToolOccasion",
          "Block",
          "Chunk",
          "CommandOptions",
          "Config",
          "Decision",
          "DeltaEvent",
          "Diagnostic",
          "DoneEvent",
          "ErrorCode",
          "ErrorDetail",
          "EventOf",
          "EventType",
          "ExecuteOptions",
          "Explanation",
          "Family",
          "GivenResult",
          "Guard",
          "GuardAnswer",
          "GuardPlace",
          "Guarded",
          "HandleJson",
          "HandoffOccasion",
          "HookAnswer",
          "HookEntry",
          "HookFunction",
          "Hooks",
          "InputMessage",
          "ItemEvent",
          "JsonSchema",
          "Limits",
          "McpServerStatus",
          "Message",
          "ModelBackend",
          "ModelRequest",
          "OpenSessionOptions",
          "Otherwise",
          "OutputMode",
          "OutputOf",
          "OutputRequest",
          "OutputSpec",
          "ParkedCall",
          "ParkedRun",
          "PermissionCallback",
          "PermissionRequest",
          "PermissionRules",
          "Point",
          "PolicyOptions",
          "PromptOccasion",
          "ProviderOptions",
          "Raw",
          "ReplayOptions",
          "ReplaySource",
          "ResponseOptions",
          "Resume",
          "Retraction",
          "RetryOptions",
          "Run",
          "RunEndOccasion",
          "RunInput",
          "RunOptions",
          "RunResult",
          "RunStatus",
          "SendOptions",
          "Session",
          "SessionOptions",
          "StandardSchema",
          "StartErrorCode",
          "StopReason",
          "Swarm",
          "SwarmOptions",
          "Target",
          "TextResponseOptions",
          "Tool",
          "ToolCallRecord",
          "ToolChoice",
          "ToolContext",
          "ToolDefinition",
          "ToolOptions",
          "ToolRegistry",
          "ToolSpec",
          "Topic",
          "TopicEvent",
          "Usage",
          "Wait",
          "WarningCode",
          "WarningDetail",
        ],
        "values": [
          "RunError",
          "StartError",
          "ToolFailure",
          "addUsage",
          "agent",
          "agentTool",
          "command",
          "createToolRegistry",
          "defineConfig",
          "explain",
          "familyOf",
          "isDelta",
          "isRunError",
          "isStartError",
          "isToolFailure",
          "openSession",
          "park",
          "replay",
          "run",
          "sleepUntil",
          "swarm",
          "tool",
          "waitForPerson",
        ],
      }
    `);
  });

  it("millrace/anthropic, millrace/openai, millrace/google", () => {
    expect(["anthropic", "openai", "google"].map((name) => readNames(`runtime/${name}`))).toMatchInlineSnapshot(`
      [
        {
          "types": [
            "BackendOptions",
          ],
          "values": [
            "anthropic",
          ],
        },
        {
          "types": [
            "BackendOptions",
            "CompatibleOptions",
            "Openai",
          ],
          "values": [
            "openai",
          ],
        },
        {
          "types": [
            "BackendOptions",
          ],
          "values": [
            "google",
          ],
        },
      ]
    `);
  });

  it("millrace/claude-code", () => {
    expect(readNames("runtime/claude-code")).toMatchInlineSnapshot(`
      {
        "types": [
          "Argv",
          "ArgvFile",
          "ArgvPlan",
          "ClaudeCodeBackend",
          "ClaudeCodeBackendOptions",
          "ClaudeCodeConversation",
          "ClaudeCodeMessage",
          "ClaudeCodeMessageKind",
          "ClaudeCodeMessageOf",
          "ClaudeCodeOptions",
          "CliVersion",
          "CollectedItems",
          "ContentBlock",
          "ExitSeen",
          "McpServerConfig",
          "PermissionMode",
          "ProcessExit",
          "ProcessHandle",
          "ProcessRequest",
          "Query",
          "QueryItem",
          "QueryOptions",
          "Route",
          "RoutedFeature",
          "RoutingOptions",
          "SettingSource",
          "Spawn",
          "SubagentDefinition",
          "UnlistedMessage",
        ],
        "values": [
          "buildArgv",
          "claudeCode",
          "collectItems",
          "collectMessages",
          "detectFeatures",
          "diagnoseExit",
          "fold",
          "isMessageOf",
          "parseVersion",
          "query",
          "requiresControl",
          "route",
          "versionMeetsMinimum",
          "withQuery",
        ],
      }
    `);
  });

  it("millrace/queues/bullmq, millrace/queues/pg-boss", () => {
    const types = ["JobsWanted", "QueueCounts", "QueueErrorCode", "QueuedJob", "RunQueue", "TakenJob"];
    const values = ["QueueError", "isQueueError", "openQueue"];
    expect(readNames("runtime/queues/bullmq")).toEqual({
      types: [...types.slice(0, 4), "RedisQueueOptions", ...types.slice(4)],
      values,
    });
    expect(readNames("runtime/queues/pg-boss")).toEqual({
      types: ["JobsWanted", "PostgresQueueOptions", ...types.slice(1)],
      values,
    });
  });

  it("millrace/queues/in-process", () => {
    expect(readNames("runtime/queues/in-process")).toEqual({
      types: ["InProcessQueue", "JobsWanted", "QueueCounts", "QueueErrorCode", "QueuedJob", "RunQueue", "TakenJob"],
      values: ["QueueError", "createInProcessQueue", "isQueueError"],
    });
  });

  it("millrace/server, millrace/stores/memory, millrace/stores/sqlite", () => {
    const entries = ["server/index", "runtime/stores/memory", "runtime/stores/sqlite"];
    expect(entries.map((entry) => readNames(entry))).toMatchInlineSnapshot(`
      [
        {
          "types": [
            "AccessToken",
            "ApiErrorCode",
            "ListenOptions",
            "Listening",
            "LogRecord",
            "ResultLinkOptions",
            "Server",
            "ServerLimits",
            "ServerOptions",
          ],
          "values": [
            "SERVER_LIMITS",
            "createServer",
            "logLine",
            "resultLink",
          ],
        },
        {
          "types": [
            "AuditEntry",
            "ClaimWanted",
            "HeldClaim",
            "ModelUsage",
            "NewRun",
            "NewThread",
            "Question",
            "ReadOptions",
            "RunClaim",
            "RunStore",
            "RunsWanted",
            "Settlement",
            "Store",
            "StoreErrorCode",
            "StoredAnswer",
            "StoredRun",
            "StoredThread",
            "ThreadPage",
            "ThreadsWanted",
            "WholeThread",
          ],
          "values": [
            "StoreError",
            "createMemoryStore",
            "isStoreError",
          ],
        },
        {
          "types": [
            "Store",
            "StoreErrorCode",
          ],
          "values": [
            "StoreError",
            "isStoreError",
            "openStore",
          ],
        },
      ]
    `);
  });

  it("millrace/sinks", () => {
    expect(readNames("sinks/index")).toMatchInlineSnapshot(`
      {
        "types": [
          "AskOptions",
          "FormattedEvent",
          "FormattedOptions",
          "LogOptions",
          "MarkdownOptions",
          "MarkdownWriter",
          "ProgressOptions",
          "ProgressSink",
          "SafeText",
          "Sink",
          "Telemetry",
          "TelemetryApi",
          "TelemetryAttributes",
          "TelemetryMeter",
          "TelemetryOptions",
          "TelemetrySpan",
          "TelemetryTracer",
          "TerminalAnswer",
          "TerminalOptions",
          "TerminalQuestion",
          "TerminalSink",
        ],
        "values": [
          "askInTerminal",
          "createFormattedSink",
          "createLogSink",
          "createMarkdownWriter",
          "createNdjsonSink",
          "createProgressSink",
          "createSafeText",
          "createSseSink",
          "createTelemetry",
          "createTerminalAsk",
          "createTerminalSink",
          "displayWidth",
          "foldLine",
          "joinSinks",
          "loadTelemetry",
          "logFileName",
          "plainLine",
          "plainText",
          "selectSinks",
          "wantsColor",
        ],
      }
    `);
  });

  it("millrace/emulator", () => {
    expect(readNames("emulator/index")).toMatchInlineSnapshot(`
      {
        "types": [
          "Emulator",
          "EmulatorOptions",
          "EmulatorScript",
          "Fault",
          "ListenOptions",
          "ListeningServer",
          "ReceivedRequest",
          "Reply",
          "ReplyCall",
          "ScriptMatch",
          "ScriptRule",
        ],
        "values": [
          "FAULT_HEADER",
          "createEmulator",
          "parseScript",
        ],
      }
    `);
  });

  it("millrace/formats", () => {
    expect(readNames("formats/index")).toMatchInlineSnapshot(`
      {
        "types": [
          "Adapter",
          "AdapterOptions",
          "Chunk",
          "ChunkOf",
          "ClaudeCodeAdapter",
          "DataFrame",
          "DeclarativeFormat",
          "DeclarativeFormatConfig",
          "Decoder",
          "DecoderOptions",
          "DefaultSchema",
          "EndSchema",
          "EventKind",
          "EventSchema",
          "EventTemplates",
          "Extract",
          "FaultCode",
          "FaultyFrame",
          "Format",
          "FormatDescription",
          "FormatEntry",
          "FormatRegistry",
          "Frame",
          "Framing",
          "Match",
          "MissingVerdict",
          "ParsedEvent",
          "Path",
          "Scalar",
          "ShowOptions",
          "Template",
          "TemplateStyle",
          "Visibility",
        ],
        "values": [
          "anthropicMessages",
          "builtInFormats",
          "claudeCode",
          "compilePath",
          "compileTemplate",
          "createDeclarativeFormat",
          "createDecoder",
          "createFormatRegistry",
          "createMissingVerdict",
          "errorItem",
          "gemini",
          "isVisible",
          "messageItem",
          "ndjson",
          "noticeItem",
          "openAiChat",
          "parseFormatConfig",
          "permissionItem",
          "plainText",
          "resultItem",
          "retractNotice",
          "startItem",
          "textDelta",
          "thinkingDelta",
          "toolCallItem",
          "toolInputDelta",
          "toolResultItem",
          "warningItem",
        ],
      }
    `);
  });

  it("millrace/views", () => {
    expect(readNames("views/index")).toMatchInlineSnapshot(`
      {
        "types": [
          "AnyMap",
          "AssistantMessage",
          "ChatEvent",
          "ChatMessage",
          "ChatOptions",
          "ChatTool",
          "ChunkUsage",
          "CollectResult",
          "CompleteChunk",
          "ContentBlock",
          "EndOfStream",
          "ErrorMap",
          "EventMap",
          "EventSource",
          "ItemDiagnostic",
          "ItemError",
          "ItemMessage",
          "ItemOptions",
          "ItemWarning",
          "MapOf",
          "MessageEnvelope",
          "MessageStartMap",
          "Normalised",
          "NormalisedMap",
          "RawResponseEvent",
          "ReportOptions",
          "ResultMessage",
          "RetractMap",
          "RetractedText",
          "RunCompleteEvent",
          "RunItemEvent",
          "RunSummary",
          "RunnerArtifact",
          "RunnerDocuments",
          "RunnerEvent",
          "RunnerMessage",
          "RunnerSseOptions",
          "RunnerToolCall",
          "RunnerToolResult",
          "Source",
          "SseVocabulary",
          "StreamChunk",
          "StreamEventMessage",
          "StreamItem",
          "StreamingAccumulator",
          "StreamingEvent",
          "StreamingFailure",
          "StreamingMessage",
          "StreamingMetadata",
          "StreamingResult",
          "StreamingResultOptions",
          "StreamingToolCall",
          "StreamingToolResult",
          "StreamingToolUse",
          "SystemMessage",
          "Tagged",
          "ToolCompleteMap",
          "ToolResultChunk",
          "ToolUseChunk",
          "UserMessage",
          "VendorUsage",
          "View",
          "Visibility",
          "WarningEvent",
        ],
        "values": [
          "SSE_VOCABULARIES",
          "accumulateText",
          "collect",
          "collectType",
          "createChatEvents",
          "createEventMaps",
          "createItems",
          "createRunnerEvents",
          "createRunnerSse",
          "createSseFrames",
          "createStreamChunks",
          "createStreamingEvents",
          "createStreamingResult",
          "createTagged",
          "errorToString",
          "isTerminal",
          "textOnly",
          "toChatEvents",
          "toEventMaps",
          "toEvents",
          "toItems",
          "toRunnerEvents",
          "toRunnerSse",
          "toStreamChunks",
          "toStreamingEvents",
          "toStreamingResult",
          "toTagged",
          "toolsOnly",
        ],
      }
    `);
  });

  it("millrace/testing", () => {
    expect(readNames("testing/index")).toMatchInlineSnapshot(`
      {
        "types": [
          "AgentSituation",
          "BodyStep",
          "Bytes",
          "Failure",
          "FetchReply",
          "FetchScript",
          "FilesPlace",
          "FormatSample",
          "Invariant",
          "ModelSituation",
          "QueuePlace",
          "RecordedRequest",
          "RunQueue",
          "RunStore",
          "ScriptedBackend",
          "ScriptedFetch",
          "ScriptedReply",
          "ScriptedSpawn",
          "SpawnCall",
          "SpawnScript",
          "SpawnStep",
          "Store",
          "StoreTrialOptions",
          "Violation",
          "VirtualClock",
        ],
        "values": [
          "RUN_LOG_INVARIANTS",
          "RunLogViolation",
          "assertRunLog",
          "checkAgentBackend",
          "checkFiles",
          "checkFormat",
          "checkModelBackend",
          "checkQueue",
          "checkStore",
          "closeRunLog",
          "createMemoryFiles",
          "createScriptedBackend",
          "createScriptedFetch",
          "createScriptedSpawn",
          "createSeededRandom",
          "createVirtualClock",
          "findViolation",
        ],
      }
    `);
  });

  it("millrace/compare", () => {
    expect(readNames("compare/index")).toMatchInlineSnapshot(`
      {
        "types": [
          "CompareDocument",
          "CompareOptions",
          "CompareProgress",
          "ComparePrompt",
          "CompareTarget",
          "ComparisonReport",
          "Decision",
          "DecisionRule",
          "DimensionTest",
          "JudgeOptions",
          "MannWhitney",
          "PairReport",
          "RubricItem",
          "Score",
          "ScoredAnswer",
          "ScoredSample",
          "Scorer",
          "SectionName",
          "Summary",
          "TargetReport",
        ],
        "values": [
          "DOCUMENT_SECTIONS",
          "JOURNAL_FILE",
          "acceptanceCriteria",
          "compare",
          "compareIn",
          "consistency",
          "describeReport",
          "documentScorers",
          "errorScenarios",
          "mannWhitney",
          "sectionCompleteness",
          "writeHtmlReport",
        ],
      }
    `);
  });

  it.each([
    ["millrace", "index"],
    ["millrace/formats", "formats/index"],
    ["millrace/views", "views/index"],
    ["millrace/testing", "testing/index"],
  ])("%s can be imported by its name, and the types say what is there", async (name, entry) => {
    const loaded: object = await import(/* @vite-ignore */ name);
    expect(Object.keys(loaded).sort()).toEqual(readNames(entry).values);
  });
});
