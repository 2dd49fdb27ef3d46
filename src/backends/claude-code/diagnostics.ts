import type { Diagnostic } from "#domain";

/** The facts about a CLI that ended without a result. */
export interface ExitSeen {
  readonly code: number | null;
  readonly signal?: string | null;
  readonly stdoutWasEmpty: boolean;
  /** The end of its stderr. */
  readonly stderrTail?: string;
  readonly lastNonJsonLine?: string | undefined;
}

interface Reading {
  readonly hint: string;
  readonly troubleshooting: readonly string[];
}

const UPDATE = "Update it: npm update -g @anthropic-ai/claude-code";
const LOG_IN = "Run claude in a terminal and log in, or set ANTHROPIC_API_KEY";
const WITHOUT_TERMINAL =
  "If no login is possible (a daemon, CI, a container), the key must be in the environment of this process";
const TRY_BY_HAND = "Run the same command in a terminal and read what it says";

/** How much of stderr goes into a hint: a line, not a page of minified source. */
const MAX_LEAD = 300;

/**
 * Explains an exit without a result. The CLI's own message on stderr comes first; from the code alone, the hint is
 * marked as a guess.
 *
 * @example
 * diagnoseExit({ code: 127, stdoutWasEmpty: true }).hint // "Command not found (CLI may have moved)"
 */
export function diagnoseExit(seen: ExitSeen): Diagnostic {
  const stderr = (seen.stderrTail ?? "").trim();
  const { hint, troubleshooting } = readStderr(stderr) ?? readSignal(seen.signal ?? null) ?? readCode(seen, stderr);
  return {
    hint,
    troubleshooting: troubleshooting.join("\n"),
    ...(seen.code !== null && { exitCode: seen.code }),
    ...(stderr !== "" && { stderrTail: stderr }),
    ...(seen.lastNonJsonLine !== undefined && { lastNonJsonLine: seen.lastNonJsonLine }),
    stdoutWasEmpty: seen.stdoutWasEmpty,
  };
}

/** Causes that the CLI's own message shows, whatever the code. */
function readStderr(stderr: string): Reading | undefined {
  if (stderr === "") return undefined;
  const lead = leadingLine(stderr);
  if (/--verbose\b/.test(stderr) || /unknown option|unknown argument/i.test(stderr)) {
    return {
      hint: `The CLI refused its arguments, so its version and this one do not fit together: ${lead}`,
      troubleshooting: [
        `Look at the version: claude --version`,
        UPDATE,
        "Leave out options this version does not know",
      ],
    };
  }
  if (/root\/sudo|root or sudo/i.test(stderr)) {
    return {
      hint: lead,
      troubleshooting: [
        "Do not run as root with bypassPermissions, or set IS_SANDBOX=1 where the machine itself is the sandbox",
      ],
    };
  }
  if (/\b(?:log ?in|logged in|authenticat\w*|unauthori[sz]ed|api key|oauth|credential\w*)\b/i.test(stderr)) {
    return { hint: `Authentication required: ${lead}`, troubleshooting: [LOG_IN, WITHOUT_TERMINAL] };
  }
  return undefined;
}

function readSignal(signal: string | null): Reading | undefined {
  if (signal === null) return undefined;
  const memory = signal === "SIGKILL" ? ["Look whether the machine ran out of memory"] : [];
  return { hint: `The CLI was ended by ${signal}`, troubleshooting: [...memory, TRY_BY_HAND] };
}

function readCode({ code, stdoutWasEmpty }: ExitSeen, stderr: string): Reading {
  const reading = readBareCode(code, stdoutWasEmpty);
  if (stderr === "" || code === 126 || code === 127) return reading;
  return { hint: leadingLine(stderr), troubleshooting: [TRY_BY_HAND, ...reading.troubleshooting] };
}

function readBareCode(code: number | null, stdoutWasEmpty: boolean): Reading {
  switch (code) {
    case 1:
      return stdoutWasEmpty
        ? { hint: "Authentication required", troubleshooting: [LOG_IN, WITHOUT_TERMINAL, TRY_BY_HAND] }
        : {
            hint: "General error (check if CLI is authenticated)",
            troubleshooting: [TRY_BY_HAND, LOG_IN, WITHOUT_TERMINAL],
          };
    case 2:
      return {
        hint: "Invalid arguments (check SDK version compatibility)",
        troubleshooting: ["Look at the version: claude --version", UPDATE],
      };
    case 126:
      return {
        hint: "Permission denied (check file permissions)",
        troubleshooting: ["Make the CLI executable: chmod +x on the file executable names"],
      };
    case 127:
      return {
        hint: "Command not found (CLI may have moved)",
        troubleshooting: ["Look where it is: which claude", "Install it: npm install -g @anthropic-ai/claude-code"],
      };
    case null:
    default:
      return stdoutWasEmpty
        ? { hint: "CLI error (no output)", troubleshooting: [TRY_BY_HAND, UPDATE, WITHOUT_TERMINAL] }
        : { hint: "Unknown error", troubleshooting: [TRY_BY_HAND, UPDATE, WITHOUT_TERMINAL] };
  }
}

/** The most useful line: the last one that contains "error", else the last one that is not empty. */
function leadingLine(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  const said = lines.filter((line) => line !== "");
  const line = said.findLast((candidate) => /\berror\b/i.test(candidate)) ?? said.at(-1) ?? "";
  return line.length > MAX_LEAD ? `${line.slice(0, MAX_LEAD)}…` : line;
}
