/** The key of a value in the browser's storage. Servers below other prefixes of this host do not share it. */
export function storageKey(name: string): string {
  const folder = new URL(".", document.baseURI).pathname;
  return folder === "/" ? `millrace-${name}` : `millrace-${name}:${folder}`;
}

const draftKey = (threadId: string): string => storageKey(`draft-${threadId}`);

/** The unsent text of a thread. It is kept for this tab, also over a reload. */
export function readDraft(threadId: string): string {
  return sessionStorage.getItem(draftKey(threadId)) ?? "";
}

export function keepDraft(threadId: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(draftKey(threadId));
    else sessionStorage.setItem(draftKey(threadId), text);
  } catch {
    // The storage is full: the text is still in the field.
  }
}
