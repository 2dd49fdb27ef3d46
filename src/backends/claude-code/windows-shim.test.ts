import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { readShim } from "./windows-shim.ts";

/** The output of npm's cmd-shim for a script with `#!/usr/bin/env node`. */
const NPM = `@ECHO off\r
GOTO start\r
:find_dp0\r
SET dp0=%~dp0\r
EXIT /b\r
:start\r
SETLOCAL\r
CALL :find_dp0\r
\r
IF EXIST "%dp0%\\node.exe" (\r
  SET "_prog=%dp0%\\node.exe"\r
) ELSE (\r
  SET "_prog=node"\r
  SET PATHEXT=%PATHEXT:;.JS;=;%\r
)\r
\r
endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\\node_modules\\@anthropic-ai\\claude-code\\cli.js" %*\r
`;
/** The same for a program. */
const NPM_EXE = `@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n"%dp0%\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe"   %*\r\n`;
/** The output of pnpm. */
const PNPM = `@SETLOCAL\r
@IF EXIST "%~dp0\\node.exe" (\r
  "%~dp0\\node.exe"  "%~dp0\\..\\store\\claude-code\\cli.mjs" %*\r
) ELSE (\r
  @SET PATHEXT=%PATHEXT:;.JS;=;%\r
  node  "%~dp0\\..\\store\\claude-code\\cli.mjs" %*\r
)\r
`;

const read = (text: string, path = "C:\\npm\\claude.cmd") =>
  readShim({ path, read: async () => new TextEncoder().encode(text), node: "C:\\node\\node.exe" }).catch(
    (error: unknown) => (isStartError(error) ? [error.code, error.message] : error),
  );

describe("F-A14: a batch file on Windows", () => {
  it.each([
    ["npm for a script", NPM, "C:\\node\\node.exe", ["C:\\npm\\node_modules\\@anthropic-ai\\claude-code\\cli.js"]],
    ["npm for a program", NPM_EXE, "C:\\npm\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe", []],
    ["pnpm", PNPM, "C:\\node\\node.exe", ["C:\\store\\claude-code\\cli.mjs"]],
  ])("that was written by %s names the program that is started instead", async (_name, text, executable, args) => {
    expect(await read(text)).toEqual({ executable, args });
  });

  it.each([
    ["starts something else", "@echo off\r\nstart notepad %*\r\n"],
    ["names two programs", '"%~dp0\\a.js" %*\r\n"%~dp0\\b.js" %*\r\n'],
    ["does not pass its arguments on", '"%~dp0\\a.exe"\r\n'],
    ["names another batch file", '"%~dp0\\a.cmd" %*\r\n'],
    ["is empty", ""],
    ["is too long", `${NPM}${" ".repeat(20_000)}`],
  ])("that %s is rejected by name", async (_why, text) => {
    expect(await read(text)).toEqual(["spawn", expect.stringContaining("C:\\npm\\claude.cmd")]);
  });

  it("that cannot be read is rejected by name", async () => {
    const reading = readShim({ path: "C:\\x.cmd", read: () => Promise.reject(new Error("EPERM")), node: "node" });
    await expect(reading).rejects.toMatchObject({ code: "spawn", message: expect.stringContaining("C:\\x.cmd") });
  });
});
