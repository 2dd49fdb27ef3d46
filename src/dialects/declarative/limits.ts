/** Limits of a declarative format. They are far above what a real one needs; a hostile file is refused cheaply. */

/** The size of a config given as text. Real ones have a few KB. */
export const MAX_CONFIG_BYTES = 262_144;
/** The nesting of a config. The deepest valid one has five levels. */
export const MAX_CONFIG_DEPTH = 32;
/** Objects and lists in a config given as a value. The largest valid one has about 12,000. */
export const MAX_CONFIG_NODES = 20_000;
export const MAX_SCHEMAS = 200;
/** Fields of one `extract`, conditions of one `match`, values of one any-of list, paths of one fallback list. */
export const MAX_FIELDS = 50;
export const MAX_PATH_LENGTH = 512;
export const MAX_TEMPLATE_LENGTH = 8192;
export const MAX_NAME_LENGTH = 64;
export const MAX_DESCRIPTION_LENGTH = 500;

/** A short template may repeat one huge value a thousand times; values beyond this many characters are cut. */
export const MAX_RENDERED_LENGTH = 16_777_216;
