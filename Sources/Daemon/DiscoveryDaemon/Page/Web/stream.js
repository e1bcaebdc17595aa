// A watch of the API: lines of JSON as they come, and again from its cursor when the connection is lost.

import { NoSession } from "./session.js";

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Follows a target until the session is over.
 * @param took called with each batch of events, in order
 * @param became called with `live`, `lost` and a reason, and `anew` before a list that replaces all that was said
 */
export async function follow(session, target, took, became) {
  let cursor = null;
  let patience = 500;
  for (;;) {
    let reason = "the server ended the answer";
    try {
      const resumed = cursor === null ? target : `${target}&since=${encodeURIComponent(cursor)}`;
      const answer = await session.ask(resumed);
      if (answer.status === 410) {
        cursor = null;
        continue;
      }
      if (!answer.ok) throw new Error((await answer.json()).error?.message ?? `status ${answer.status}`);
      became(cursor === null ? "anew" : "live");
      for await (const events of lines(answer.body)) {
        patience = 500;
        if (events.some(({ event }) => event === "overflow")) cursor = null;
        else cursor = events.findLast((event) => event.cursor)?.cursor ?? cursor;
        took(events);
      }
    } catch (error) {
      if (error instanceof NoSession) throw error;
      reason = error.message;
    }
    became("lost", reason);
    await pause(patience);
    patience = Math.min(patience * 2, 10_000);
  }
}

/** The longest line that is kept: a service has 64 KiB of TXT at most. */
const longest = 4 * 1024 * 1024;

async function* lines(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = parts.pop();
      if (rest.length > longest) throw new Error("a line is too long");
      const events = parts.filter((part) => part !== "").map((part) => JSON.parse(part));
      if (events.length > 0) yield events;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
