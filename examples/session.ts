// A session: a live conversation, one run at a time, each knowing what was said before. Messages may be sent ahead; they
// wait for their turn. The transcript can be kept and gone on with later.
//
// Prints:
//   1 + 2 = 3.
//   3 + 4 = 7.
//   the second request held 3 messages
//   gone on with later: 9 messages

import assert from "node:assert/strict";
import { openSession } from "millrace";
import { anthropic } from "millrace/anthropic";
import { createEmulator } from "millrace/emulator";

const emulator = createEmulator();
const { url } = await emulator.listen();
const backend = anthropic({ model: "any", apiKey: "any", baseUrl: url });
const sizes = (): number[] => emulator.requests.map(({ body }) => (body as { messages: unknown[] }).messages.length);

const session = openSession(backend);
// Sent at once, answered one after the other.
const [first, second] = [session.send("What is 1 + 2?"), session.send("What is 3 + 4?")];
console.log(await first.output());
console.log(await second.output());
console.log(`the second request held ${sizes()[1]} messages`);
const messages = session.messages();
assert.equal(messages.length, 4);
await session.close();

const later = openSession(backend, { messages: [...messages, ...messages] });
await later.send("What is 5 + 6?").result();
console.log(`gone on with later: ${sizes()[2]} messages`);
await later.close();
await emulator.close();
