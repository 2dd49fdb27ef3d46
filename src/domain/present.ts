/**
 * The members of an object that are not `undefined`.
 *
 * @example
 * ```ts
 * present({ model: "m", turns: undefined }); // { model: "m" }
 * ```
 */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<Fields>;
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
