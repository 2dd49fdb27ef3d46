/** The name under which something is kept in the browser. Servers below other prefixes of this host do not see it. */
export function storageKey(name: string): string {
  const folder = new URL(".", document.baseURI).pathname;
  return folder === "/" ? `millrace-${name}` : `millrace-${name}:${folder}`;
}

const draftKey = (threadId: string): string => storageKey(`draft-${threadId}`);

/** What was written and not sent. It is kept for this tab, over a reload. */
export function readDraft(threadId: string): string {
  return sessionStorage.getItem(draftKey(threadId)) ?? "";
}

export function keepDraft(threadId: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(draftKey(threadId));
    else sessionStorage.setItem(draftKey(threadId), text);
  } catch {
    // There is no room: the text is in the field all the same.
  }
}
