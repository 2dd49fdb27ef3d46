/** Runs a system program to its end and resolves with its output, whatever its exit code. */
export type RunProgram = (path: string, args: readonly string[]) => Promise<string>;

export interface RunProgramOptions {
  /** The complete environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const MAX_OUTPUT_BYTES = 67_108_864;

/** Rejects when the program cannot be started, prints too much, or does not end in time. */
export function createRunProgram({ env, timeoutMs }: RunProgramOptions): RunProgram {
  return async (path, args) => {
    const { execFile } = await import("node:child_process");
    return new Promise((resolve, reject) => {
      const options = {
        env,
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: MAX_OUTPUT_BYTES,
        windowsHide: true,
      } as const;
      const child = execFile(path, [...args], options, (error, stdout) => {
        // A numeric code is an exit code other than 0: `ps` has found none of the requested processes.
        if (error === null || typeof error.code === "number") resolve(stdout);
        else reject(error);
      });
      child.stdin?.end();
    });
  };
}
