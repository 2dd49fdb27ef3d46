/** Runs a program of the system to its end and resolves with what it printed, whatever its exit code is. */
export type RunProgram = (path: string, args: readonly string[]) => Promise<string>;

export interface RunProgramOptions {
  /** All the variables it gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const MAX_OUTPUT_BYTES = 67_108_864;

/** Rejects when the program cannot be started, prints without end or does not end in time. */
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
        // An exit code other than 0 is a number: `ps` has found none of the processes it was asked for.
        if (error === null || typeof error.code === "number") resolve(stdout);
        else reject(error);
      });
      child.stdin?.end();
    });
  };
}
