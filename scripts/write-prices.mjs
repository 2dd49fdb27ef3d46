// `npm run prices:write`: generates src/runtime/price-table.ts from the prices that @pydantic/genai-prices maintains.
// At run time its table would cost 50 ms and 14 MB in every process;
// docs/decisions/0028-generated-price-table.md.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findProvider } from "@pydantic/genai-prices";
import { ROOT } from "./set-up.mjs";

/** The providers whose prices are included. */
const PROVIDERS = ["anthropic", "openai", "openrouter", "deepseek", "google"];
/** The prices we use, by their names in the maintained table. */
const KINDS = {
  input_mtok: "input",
  output_mtok: "output",
  cache_read_mtok: "cacheRead",
  cache_write_mtok: "cacheWrite",
};

/** @param {string} time */
const secondsOf = (time) => {
  const [, hours, minutes, seconds] = /^(\d{2}):(\d{2}):(\d{2})Z$/.exec(time) ?? [];
  if (hours === undefined) throw new Error(`A time of day that cannot be read: ${time}`);
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
};

/** @param {any} constraint */
function conditionOf(constraint) {
  if (constraint === undefined) return {};
  if (constraint.type === "start_date") return { since: Date.parse(`${constraint.start_date}T00:00:00Z`) };
  if (constraint.type === "time_of_date") {
    return { daily: [secondsOf(constraint.start_time), secondsOf(constraint.end_time)] };
  }
  throw new Error(`A condition that is not known: ${JSON.stringify(constraint)}`);
}

/** @param {any} prices */
function ratesOf(prices) {
  /** @type {Record<string, unknown>} */
  const rates = {};
  for (const [from, to] of Object.entries(KINDS)) {
    const rate = prices[from];
    if (typeof rate === "object") {
      const steps = rate.tiers.toSorted((/** @type {any} */ a, /** @type {any} */ b) => a.start - b.start);
      rates[to] = [rate.base, ...steps.map((/** @type {any} */ { start, price }) => [start, price])];
    } else if (rate !== undefined) rates[to] = rate;
  }
  return rates;
}

/** @param {any} model */
function entryOf({ match, prices }) {
  const versions = Array.isArray(prices) ? prices : [{ prices }];
  return { match, rates: versions.map((one) => ({ ...conditionOf(one.constraint), ...ratesOf(one.prices) })) };
}

/** The table as text. */
export function writePriceTable() {
  const table = Object.fromEntries(
    PROVIDERS.map((id) => {
      const provider = /** @type {any} */ (findProvider({ providerId: id }));
      const fallback = (provider.fallback_model_providers ?? []).filter((/** @type {string} */ other) =>
        PROVIDERS.includes(other),
      );
      return [id, { ...(fallback.length > 0 && { fallback }), models: provider.models.map(entryOf) }];
    }),
  );
  const json = JSON.stringify(table);
  if (/`|\$\{/.test(json)) throw new Error("The table cannot be written as it is.");
  return [
    "// Made by `npm run prices:write` of the prices that https://github.com/pydantic/genai-prices maintains (MIT licence,",
    "// copyright Pydantic Services Inc. and its contributors). Not to be edited.",
    "",
    "/** Dollars per million tokens, by provider. As text: the engine reads JSON several times as fast as code. */",
    `export const PRICE_TABLE: string = String.raw\`${json}\`;`,
    "",
  ].join("\n");
}

export const PRICE_TABLE_FILE = join(ROOT, "src/runtime/price-table.ts");

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeFileSync(PRICE_TABLE_FILE, writePriceTable());
