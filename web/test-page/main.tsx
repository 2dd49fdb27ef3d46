// What the browser tests of foreign text need: the page's own markdown, drawn at once and as often as they like.

import { render } from "preact";
import { Markdown } from "../src/markdown/markdown.tsx";

const root = document.querySelector("#app");

/** Draws a text; `key` keeps the drawing of a text that grows apart from the next one's. */
function draw(key: number, text: string, isOpen: boolean): void {
  if (root !== null) render(<Markdown key={key} text={text} isOpen={isOpen} />, root);
}

Object.assign(window, { draw });
