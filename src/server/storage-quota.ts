import type { Store } from "#sessions";
import { ApiError } from "./api-error.ts";

/** How much each tenant may keep. */
export interface StorageQuota {
  /** @throws ApiError `storage-exceeded` for a tenant that keeps as much as it may. */
  require(tenant: string): Promise<void>;
  /** A log of the tenant has grown by about so much. Gives why it may grow no more, if that is so. */
  grow(tenant: string, weight: number): Promise<string | undefined> | undefined;
  /** What each of these tenants keeps. Empty for a store that does not count. */
  used(tenants: Iterable<string>): Promise<ReadonlyMap<string, number>>;
}

/** The store is asked again when a tenant's logs have grown by so much, in characters. */
const ASK_AGAIN = 65_536;

export function createStorageQuota(store: Store, bytesPerTenant: number): StorageQuota {
  /** How much a tenant's logs have grown since the store was asked. */
  const grown = new Map<string, number>();

  const findExcess = async (tenant: string): Promise<string | undefined> => {
    grown.delete(tenant);
    const used = (await store.countBytes?.(tenant)) ?? 0;
    if (used < bytesPerTenant) return undefined;
    return `You keep ${used} bytes, and ${bytesPerTenant} are allowed (limits.bytesPerTenant). Remove threads first.`;
  };

  return {
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
