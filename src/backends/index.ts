export type { Backend, ModelBackend, ModelRequest, ToolChoice, ToolSpec } from "./backend.ts";
