/** The thread in a hash: `#/t/<id>`. */
export function readRoute(hash: string): string | undefined {
  return /^#\/t\/([A-Za-z0-9_-]{1,64})$/.exec(hash)?.[1];
}

export const routeOf = (threadId: string): string => `#/t/${threadId}`;
