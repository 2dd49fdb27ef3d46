import { buildArgv, type ArgvPlan } from "../../src/backends/claude-code/argv.ts";
import { childEnvironment } from "../../src/backends/claude-code/environment.ts";
import { checkClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import { createSpawn } from "#transports";

export interface Started {
  readonly executable: string;
  readonly options?: unknown;
  readonly plan: ArgvPlan;
  /** Written to stdin before it ends. */
  readonly input?: string;
  readonly cwd?: string;
  /** The variables of "our" process. */
  readonly parent: Readonly<Record<string, string | undefined>>;
  /** Where the texts that are too long for arguments lie, by flag. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly args: readonly string[];
}

/** Starts a CLI the way the backend does, and waits for its end. */
export async function startCli(request: Started): Promise<Ended> {
  const options = checkClaudeCodeOptions(request.options);
  const built = buildArgv(options, request.plan);
  const flags = built.files.flatMap(({ flag }) => [flag, request.files?.[flag] ?? ""]);
  const args = [...flags, ...built.args];
  const handle = await createSpawn()({
    executable: request.executable,
    args,
    env: childEnvironment({ parent: request.parent, ...(options.env !== undefined && { extra: options.env }) }),
    ...(request.cwd !== undefined && { cwd: request.cwd }),
  });
  const reading = Promise.all([textOf(handle.stdout), textOf(handle.stderr), handle.exit]);
  if (request.input !== undefined) await handle.write(new TextEncoder().encode(request.input)).catch(() => undefined);
  handle.endInput();
  const [stdout, stderr, { code }] = await reading;
  return { code, stdout, stderr, args };
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}
