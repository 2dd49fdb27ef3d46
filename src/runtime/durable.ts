/**
 * Runs that survive their process: they are kept in a store, and continue from their log.
 *
 * @module
 */
export type { GivenResult, ParkedRun, Wait } from "#run";
export type { ResumeOptions, StoredRunOptions } from "./stored-run.ts";
export { resumeRun, runStored } from "./stored-run.ts";
