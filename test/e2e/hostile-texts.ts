// Texts that try to do something to a terminal: move the cursor, rewrite what stands above, set the title, write the
// clipboard, ask the terminal to type, or say what a person does not see.

const ESC = "\u001b";
const BEL = "\u0007";
const ST = `${ESC}\\`;

const csi = [
  "2J",
  "H",
  "3J",
  "1;1H",
  "10A",
  "1B",
  "5C",
  "5D",
  "2K",
  "1K",
  "0K",
  "G",
  "1G",
  "5d",
  "s",
  "u",
  "?25l",
  "?25h",
  "?47h",
  "?1049h",
  "?1049l",
  "?1000h",
  "?1002h",
  "?1006h",
  "?2004h",
  "?7l",
  "?5h",
  "!p",
  "6n",
  "5n",
  "c",
  ">c",
  "=c",
  "?6n",
  "20t",
  "21t",
  "8;1;1t",
  "3;0;0t",
  "14t",
  "1S",
  "1T",
  "5L",
  "5M",
  "5P",
  "5X",
  "5@",
  "1;5r",
  "?1;2c",
  "0;1;2;3;4;5;6;7;8;9m",
  "8m",
  "38;5;0m",
  "48;2;0;0;0m",
  "30;40m",
  "?2026h",
  " q",
  ">4;2m",
  "?1u",
  "12h",
  "4h",
  "20h",
  "1;2y",
  "#8",
  "$p",
  "2x",
].map((code) => `${ESC}[${code}`);

const strings = [
  `${ESC}]0;owned${BEL}`,
  `${ESC}]0;owned${ST}`,
  `${ESC}]1;icon${BEL}`,
  `${ESC}]2;title${BEL}`,
  `${ESC}]4;1;rgb:ff/ff/ff${BEL}`,
  `${ESC}]7;file:///etc/passwd${BEL}`,
  `${ESC}]8;;https://evil.test${BEL}click${ESC}]8;;${BEL}`,
  `${ESC}]9;notice${BEL}`,
  `${ESC}]10;?${BEL}`,
  `${ESC}]52;c;cm0gLXJmIC8=${BEL}`,
  `${ESC}]52;p;cm0gLXJmIC8=${ST}`,
  `${ESC}]50;font${BEL}`,
  `${ESC}]133;A${BEL}`,
  `${ESC}]777;notify;a;b${BEL}`,
  `${ESC}]1337;File=name=eA==:AAAA${BEL}`,
  `${ESC}]1337;SetProfile=x${BEL}`,
  `${ESC}P+q544e${ST}`,
  `${ESC}P$qm${ST}`,
  `${ESC}Pq#0;2;0;0;0#0~~${ST}`,
  `${ESC}P1;1|17/6c73${ST}`,
  `${ESC}_Gf=100;AAAA${ST}`,
  `${ESC}_payload${ST}`,
  `${ESC}^payload${ST}`,
  `${ESC}Xpayload${ST}`,
  `${ESC}kscreen title${ST}`,
  `${ESC}]0;never closed`,
  `${ESC}P never closed`,
];

const short = [
  "c",
  "7",
  "8",
  "D",
  "E",
  "M",
  "H",
  "N",
  "O",
  "Z",
  "=",
  ">",
  "#8",
  "(0lqqk",
  ")B",
  "%G",
  " F",
  "n",
  "o",
  "|",
  "~",
  "l",
  "m",
].map((code) => `${ESC}${code}`);

const eightBit = [
  "\u009b2J\u009b31m",
  "\u009b?1049h",
  "\u009d0;owned\u009c",
  "\u0090+q\u009c",
  "\u009fpayload\u009c",
  "\u009epayload\u009c",
  "\u0098payload\u009c",
  "\u0084\u0085\u0088\u008d\u008e\u008f",
];

const controls = [
  "safe\rrm -rf /",
  "a\b\b\bxyz",
  "\u0000\u0001\u0002\u0005\u000e\u000f",
  "\u007f\u0080\u0081",
  "\u000b\u000c\u001c\u001d\u001e\u001f",
  BEL.repeat(10),
  "\u0011\u0013\u0014\u0003\u0004\u001a",
  `${ESC}${ESC}[${ESC}[A`,
  `${ESC}[${ESC}]0;x${BEL}m`,
  `${ESC}[31${ESC}[2Jm`,
  `${ESC}`,
  `${ESC}[`,
];

const unseen = [
  "\u202erevo\u202c",
  "\u2066x\u2069\u2067y\u2068z",
  "\u200f\u200e\u061c",
  "a\u2028b\u2029c",
  "\ufeffbom",
  "pass\u200bword\u200b",
  "a\u2060b\u2061c\u2062d\u2063e\u2064f",
  "\u206a\u206b\u206c\u206d\u206e\u206f",
  "\u00ad\u034f\u180e\u3164\uffa0\u115f\u1160",
  "\ufff9a\ufffab\ufffb",
  "hi\u{e0001}\u{e0068}\u{e0069}\u{e007f}",
  "x\u{e0100}\u{e0101}\u{e01ef}",
  "a\u200db\u200cc",
  "a\ufe0fb\ufe00c",
];

/** More than a hundred of them, each different. */
export const HOSTILE_TEXTS: readonly string[] = [...csi, ...strings, ...short, ...eightBit, ...controls, ...unseen];

// The same rule, written a second time: what may reach a terminal is a printable character, a line end, a tab, and with
// colour our own codes. Joiners may stand behind a character that is not ASCII, once.
const OWN_CODES = /\u001b\[(?:1|2|3|4|9|22|23|24|29|31|32|33|36|39)m/g;
const PROGRESS_CODES = /\r\u001b\[K/g;
const FORBIDDEN =
  /[\u{34f}\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|(?<![\u0080-\u{10ffff}])[\u200c\u200d]|(?<![\u0080-\u{10ffff}0-9#*])[\ufe0e\ufe0f]|[\ufe00-\ufe0d]/u;

/** Whether a terminal can be given this. */
export function isHarmless(
  shown: string,
  allow: { readonly color?: boolean; readonly progress?: boolean } = {},
): boolean {
  const quiet = allow.progress === true ? shown.replaceAll(PROGRESS_CODES, "") : shown;
  return !FORBIDDEN.test(allow.color === true ? quiet.replaceAll(OWN_CODES, "") : quiet);
}

/** A hostile text as a title may show it. */
export function nameOf(text: string): string {
  return text.replaceAll(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
