// Modules that are loaded on use: loading takes real time, in which virtual time would run away.
import "@cfworker/json-schema";
import "partial-json";
import "#views";
import "../../src/runtime/price-table.ts";
