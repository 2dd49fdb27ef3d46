import { describeThrown, StartError } from "#domain";
import { openStore } from "#runtime";

/** Opens the store in the folder that `--data` names. */
export async function openData(folder: string): ReturnType<typeof openStore> {
  try {
    return await openStore(folder);
  } catch (error) {
    const why = describeThrown(error).replace(/\.$/u, "");
    throw new StartError("invalid-config", `${why}. Give another folder with --data.`, { cause: error });
  }
}
