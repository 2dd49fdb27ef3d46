import type { Random } from "#domain";
import type { Frame } from "#wire";

/** JSON that no dialect expects, or that does harm if it is trusted. */
export const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "[DONE]",
  [],
  [[]],
  [null],
  {},
  { type: null },
  { type: 7 },
  { type: {} },
  { type: "__proto__" },
  { type: "constructor" },
  { type: "toString", subtype: "valueOf" },
  JSON.parse('{"__proto__":{"polluted":true},"type":"__proto__"}'),
  JSON.parse('{"constructor":{"prototype":{"polluted":true}}}'),
  { error: null },
  { error: "text" },
  { error: { message: 1, type: [] } },
];

/** A frame as if it had arrived on the wire. */
export function hostileFrame(value: unknown): Frame {
  const text = JSON.stringify(value) ?? "";
  return { kind: "data", name: "", id: "", text, value: JSON.parse(text === "" ? "null" : text) };
}

/** The bytes with one to three faults: flipped, lost, doubled, cut off. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  let spoilt = bytes.slice();
  const faults = 1 + Math.floor(random.next() * 3);
  for (let fault = 0; fault < faults && spoilt.length > 0; fault += 1) {
    const at = Math.floor(random.next() * spoilt.length);
    const kind = Math.floor(random.next() * 4);
    if (kind === 0) spoilt[at] = Math.floor(random.next() * 256);
    else if (kind === 1)
      spoilt = join(spoilt.subarray(0, at), spoilt.subarray(at + 1 + Math.floor(random.next() * 20)));
    else if (kind === 2) spoilt = join(spoilt.subarray(0, at), spoilt.subarray(Math.max(0, at - 200)));
    else spoilt = spoilt.slice(0, at);
  }
  return spoilt;
}

/** The value with one member, at any depth, replaced by a hostile value or removed. */
export function mutateValue(value: unknown, random: Random): unknown {
  const hostile = HOSTILE_VALUES[Math.floor(random.next() * HOSTILE_VALUES.length)];
  if (typeof value !== "object" || value === null) return hostile;
  const keys = Object.keys(value);
  if (keys.length === 0 || random.next() < 0.1) return hostile;
  const key = keys[Math.floor(random.next() * keys.length)] as string;
  if (Array.isArray(value))
    return value.map((member: unknown, at) => (String(at) === key ? mutateValue(member, random) : member));
  const isLost = random.next() < 0.2;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
      if (name !== key) return [[name, member]];
      return isLost ? [] : [[name, mutateValue(member, random)]];
    }),
  );
}

function join(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}
