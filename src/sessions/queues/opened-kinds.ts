/** What is opened once for each kind of job. If opening it fails, the next use opens it again. */
export class OpenedKinds<Value> {
  private readonly _open: (kind: string) => Promise<Value>;
  private readonly _opened = new Map<string, Promise<Value>>();

  constructor(open: (kind: string) => Promise<Value>) {
    this._open = open;
  }

  of(kind: string): Promise<Value> {
    const found = this._opened.get(kind);
    if (found !== undefined) return found;
    const opened = this._open(kind);
    this._opened.set(kind, opened);
    opened.catch(() => this._opened.delete(kind));
    return opened;
  }

  /** Everything that could be opened, when nothing is being opened any more. */
  async all(): Promise<readonly Value[]> {
    const opened = await Promise.allSettled(this._opened.values());
    return opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }
}
