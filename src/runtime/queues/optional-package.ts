import { describeThrown, StartError } from "#domain";

/**
 * Imports a package that is installed only where it is needed.
 * @throws StartError with the command that installs it.
 */
export async function importPackage<Module>(install: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw new StartError(
      "feature-unavailable",
      `This queue needs packages that are not installed. Run: npm install ${install} (${describeThrown(error)})`,
      { cause: error },
    );
  }
}
