import { createEmulator, type Emulator, type EmulatorOptions } from "#emulator";

/** What a test sees of one answer. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly json: unknown;
  /** Why the body ended early, if it did. */
  readonly broken: unknown;
}

export type Vendor = "anthropic" | "openai" | "google";

/** The headers with which each vendor's own SDK asks. */
export const HEADERS: Readonly<Record<Vendor, Readonly<Record<string, string>>>> = {
  anthropic: { "content-type": "application/json", "x-api-key": "offline", "anthropic-version": "2023-06-01" },
  openai: { "content-type": "application/json", authorization: "Bearer offline" },
  google: { "content-type": "application/json", "x-goog-api-key": "offline" },
};

/** Posts a body in process and reads the answer to its end. */
export async function post(
  emulator: Emulator,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Seen> {
  const response = await emulator.fetch({
    method: "POST",
    url: `http://offline.invalid${path}`,
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const { bytes, broken } = await readAll(response.body);
  const text = new TextDecoder().decode(bytes);
  return { status: response.status, headers: response.headers, bytes, text, json: tryJson(text), broken };
}

export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** All the bytes of a body, and the error it ended with. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<{ bytes: Uint8Array; broken: unknown }> {
  const parts: Uint8Array[] = [];
  let broken: unknown;
  try {
    for await (const part of body) parts.push(part);
  } catch (thrown) {
    broken = thrown;
  }
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, broken };
}

/** Runs a test against an emulator and closes it afterwards, whatever happens. */
export async function withEmulator<T>(options: EmulatorOptions, use: (emulator: Emulator) => Promise<T>): Promise<T> {
  const emulator = createEmulator(options);
  try {
    return await use(emulator);
  } finally {
    await emulator.close();
  }
}

/** The `data` of each server-sent event, in order. */
export function readSse(text: string): { readonly event: string; readonly data: string }[] {
  return text
    .split(/\r?\n\r?\n/)
    .filter((block) => block !== "")
    .map((block) => {
      const lines = block.split(/\r?\n/);
      const field = (name: string): string =>
        lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : [])).join("\n");
      return { event: field("event"), data: field("data") };
    });
}

const NUMBERS = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };

/** Tools in every vendor's words. */
export const ADD = { name: "add", description: "Add two numbers", schema: NUMBERS };
export const MULTIPLY = { name: "multiply", description: "Multiply two numbers", schema: NUMBERS };
