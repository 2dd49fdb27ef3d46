import type { Store } from "#sessions";
import { ApiError } from "./api-error.ts";

/** How much each tenant may store. */
export interface StorageQuota {
  /**
   * Checks that a tenant may store more.
   * @throws ApiError `storage-exceeded` if it has reached its quota.
   */
  require(tenant: string): Promise<void>;
  /**
   * Calls `act` when the tenant's earlier calls have ended: between the check of a quota and what is stored after it,
   * nothing else of the tenant may be stored.
   */
  inTurn<Value>(tenant: string, act: () => Promise<Value>): Promise<Value>;
  /** A log of the tenant has grown by about this much. Resolves to the reason if it may not grow any further. */
  grow(tenant: string, weight: number): Promise<string | undefined> | undefined;
  /** The bytes stored by each of these tenants. Empty for a store that does not count. */
  used(tenants: Iterable<string>): Promise<ReadonlyMap<string, number>>;
}

/** The store is asked again when a tenant's logs have grown by this many characters. */
const ASK_AGAIN = 65_536;

export function createStorageQuota(store: Store, bytesPerTenant: number): StorageQuota {
  /** How much a tenant's logs have grown since the store was last asked. */
  const grown = new Map<string, number>();

  const findExcess = async (tenant: string): Promise<string | undefined> => {
    grown.delete(tenant);
    const used = (await store.countBytes?.(tenant)) ?? 0;
    if (used < bytesPerTenant) return undefined;
    return `You store ${used} bytes, and ${bytesPerTenant} are allowed (limits.bytesPerTenant). Remove threads first.`;
  };

  /** The last call of each tenant. */
  const turns = new Map<string, Promise<unknown>>();

  return {
    inTurn(tenant, act) {
      const turn = (turns.get(tenant) ?? Promise.resolve()).then(act, act);
      const forget = (): void => {
        if (turns.get(tenant) === turn) turns.delete(tenant);
      };
      turns.set(tenant, turn);
      turn.then(forget, forget);
      return turn;
    },
    async require(tenant) {
      const excess = await findExcess(tenant);
      if (excess !== undefined) throw new ApiError("storage-exceeded", excess);
    },
    grow(tenant, weight) {
      const sum = (grown.get(tenant) ?? 0) + weight;
      grown.set(tenant, sum);
      return sum < ASK_AGAIN ? undefined : findExcess(tenant);
    },
    async used(tenants) {
      const used = new Map<string, number>();
      for (const tenant of tenants) {
        const bytes = await store.countBytes?.(tenant);
        if (bytes !== undefined) used.set(tenant, bytes);
      }
      return used;
    },
  };
}
