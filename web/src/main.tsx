import { render } from "preact";
import { App } from "./app.tsx";
import { readTheme, showTheme } from "./state/theme.ts";
import { createWorkspace } from "./state/workspace.ts";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/conversation.css";
import "./styles/prose.css";
import "./styles/dock.css";
import "./styles/forced-colours.css";

showTheme(readTheme());
const root = document.querySelector("#app");
if (root !== null) render(<App workspace={createWorkspace()} />, root);
