import { StartError } from "#domain";
import { isStoreError, type Store } from "#sessions";

/** Rejects with a `StartError` if a store cannot be opened, as everything does that is wrong before a run exists. */
export async function opened(opening: Promise<Store>): Promise<Store> {
  try {
    return await opening;
  } catch (error) {
    if (!isStoreError(error)) throw error;
    throw new StartError("invalid-option", error.message, { cause: error });
  }
}
