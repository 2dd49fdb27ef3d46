// W8 on the server with the memory store.
import { createMemoryStore } from "millrace/stores/memory";
import { openServer } from "./sse-server.mjs";

export const open = () => openServer(createMemoryStore());
