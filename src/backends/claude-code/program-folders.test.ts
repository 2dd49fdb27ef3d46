import { describe, expect, it } from "vitest";
import { programFolders } from "./program-folders.ts";

const global = "/usr/lib/node_modules/millrace/dist/x.js";

describe("F-A1 SEC4: programs inside the current project are not used as the user's own", () => {
  it.each<[string, string, string, string]>([
    ["relative folders", "::.:bin:/usr/bin", global, "/usr/bin"],
    [
      "what npx puts in front",
      "/w/app/node_modules/.bin:/w/node_modules/.bin:/node_modules/.bin:/usr/bin",
      global,
      "/usr/bin",
    ],
    ["written otherwise", "/w/app/x/../node_modules/.bin/:/w//app/node_modules/.bin:/usr/bin", global, "/usr/bin"],
    ["another folder of node_modules", "/w/app/node_modules/evil:/usr/bin", global, "/usr/bin"],
    [
      "others stay: another project's, npx's own, the person's",
      "/w/other/node_modules/.bin:/h/.npm/_npx/1/node_modules/.bin:/w/app/bin:/h/.local/bin",
      global,
      "/w/other/node_modules/.bin:/h/.npm/_npx/1/node_modules/.bin:/w/app/bin:/h/.local/bin",
    ],
    [
      "where we are installed in the project, its programs count",
      "/w/app/node_modules/.bin:/usr/bin",
      "/w/app/node_modules/millrace/dist/x.js",
      "/w/app/node_modules/.bin:/usr/bin",
    ],
    [
      "also further up",
      "/w/app/node_modules/.bin:/w/node_modules/.bin",
      "/w/node_modules/.pnpm/millrace@1/node_modules/millrace/dist/x.js",
      "/w/app/node_modules/.bin:/w/node_modules/.bin",
    ],
    ["a name that begins the same is another", "/w/ap/node_modules/.bin", global, "/w/ap/node_modules/.bin"],
  ])("%s", (_, path, own, left) => {
    expect(programFolders({ path, own, folders: ["/w/app"], isWindows: false }).join(":")).toBe(left);
  });

  it("on Windows, regardless of case", () => {
    const path = "C:\\W\\App\\Node_Modules\\.bin;c:/w/app/node_modules/.bin;bin;C:\\npm";
    const own = "C:\\npm\\node_modules\\millrace\\dist\\x.js";
    expect(programFolders({ path, own, folders: ["c:\\w\\app\\src"], isWindows: true })).toEqual(["C:\\npm"]);
  });
});
