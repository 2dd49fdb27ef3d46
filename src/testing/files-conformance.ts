import type { FileSystem } from "#domain";
import { expectSame, type Failure, rejection, runTrials, type Trial } from "./conformance.ts";

/** A file system and an unused path in it. */
export interface FilesPlace {
  readonly files: FileSystem;
  /** An absolute path where nothing exists. */
  readonly root: string;
}

/**
 * Tests a file system against the contract of the seam and returns the failures. Works with any test runner.
 *
 * @example
 * const failures = await checkFiles(() => ({ files: createMemoryFiles(), root: "/trial" }))
 */
export function checkFiles(createPlace: () => Promise<FilesPlace> | FilesPlace): Promise<readonly Failure[]> {
  return runTrials(TRIALS, createPlace);
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

async function text({ files }: FilesPlace, path: string): Promise<string> {
  return new TextDecoder().decode(await files.read(path));
}

async function refusedWith(promise: Promise<unknown>, code: string, what: string): Promise<void> {
  expectSame(((await rejection(promise, what)) as { code?: unknown }).code, code, what);
}

const TRIALS: readonly Trial<FilesPlace>[] = [
  [
    "what is written is read, in folders that did not exist, and is replaced by the next write",
    async (place) => {
      const path = `${place.root}/a/b/file`;
      await place.files.write(path, encode("first, and long"));
      await place.files.write(path, encode("second"));
      expectSame(await text(place, path), "second", "the file");
      expectSame(await place.files.list(`${place.root}/a/b`), ["file"], "what is in its folder");
    },
  ],
  [
    "appended bytes follow those that are there",
    async (place) => {
      const path = `${place.root}/log/lines`;
      await place.files.append(path, encode("one\n"));
      await place.files.append(path, encode("two\n"));
      expectSame(await text(place, path), "one\ntwo\n", "the file");
    },
  ],
  [
    "bytes are kept, not text, and are the caller's own",
    async ({ files, root }) => {
      const bytes = new Uint8Array([0, 195, 40, 255]);
      await files.write(`${root}/bytes`, bytes);
      bytes.fill(7);
      const read = await files.read(`${root}/bytes`);
      expectSame([...read], [0, 195, 40, 255], "the bytes");
      read.fill(9);
      expectSame([...(await files.read(`${root}/bytes`))], [0, 195, 40, 255], "the bytes afterwards");
    },
  ],
  [
    "read reports a missing file; exists, list and remove do not fail",
    async ({ files, root }) => {
      await refusedWith(files.read(`${root}/none`), "ENOENT", "reading a file that is not there");
      expectSame(await files.exists(`${root}/none`), false, "whether it exists");
      expectSame(await files.list(`${root}/none`), [], "what is in it");
      await files.remove(`${root}/none`);
    },
  ],
  [
    "files and folders exist and are listed, sorted, until they are removed",
    async ({ files, root }) => {
      for (const name of ["b", "a", "folder/c"]) await files.write(`${root}/${name}`, encode(name));
      expectSame(await files.list(root), ["a", "b", "folder"], "the names");
      expectSame(await files.exists(`${root}/folder`), true, "whether the folder exists");
      await files.remove(`${root}/b`);
      expectSame(await files.exists(`${root}/b`), false, "whether the removed file exists");
      expectSame(await files.list(root), ["a", "folder"], "the names afterwards");
    },
  ],
  [
    "a real path is the same from every path to it, and a missing file has none",
    async ({ files, root }) => {
      await files.write(`${root}/folder/file`, encode("x"));
      const real = await files.realPath(`${root}/folder/file`);
      expectSame(await files.realPath(real), real, "the real path of a real path");
      expectSame(await files.realPath(`${root}/folder/../folder//./file`), real, "the real path from a detour");
      expectSame(`${await files.realPath(`${root}/folder`)}/file`, real, "the real path of its folder");
      await refusedWith(files.realPath(`${root}/folder/none`), "ENOENT", "the real path of what is not there");
    },
  ],
  [
    "a folder is no file and a file is no folder",
    async ({ files, root }) => {
      await files.write(`${root}/folder/file`, encode("x"));
      await rejection(files.read(`${root}/folder`), "reading a folder");
      await rejection(files.write(`${root}/folder`, encode("y")), "writing over a folder");
      await rejection(files.remove(`${root}/folder`), "removing a folder");
      await rejection(files.write(`${root}/folder/file/inside`, encode("y")), "writing inside a file");
      expectSame(await files.list(root), ["folder"], "the names");
    },
  ],
  [
    "a path that is not absolute is refused",
    async ({ files }) => {
      await rejection(files.read("file"), "reading");
      await rejection(files.write("file", encode("x")), "writing");
      await rejection(files.append("./file", encode("x")), "appending");
      await rejection(files.exists("file"), "exists");
      await rejection(files.list(""), "list");
      await rejection(files.remove("../file"), "remove");
      await rejection(files.realPath("file"), "realPath");
    },
  ],
];
