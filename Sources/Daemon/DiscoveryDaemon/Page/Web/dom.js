// Elements. Text only ever becomes a text node: nothing here takes markup.

import { once, visible } from "./words.js";

export const byID = (id) => document.getElementById(id);

/** An element with attributes and children; strings among the children become text. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const key in attributes) {
    const value = attributes[key];
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

/** Text from the network: visible characters only, and isolated from its neighbours' direction. */
export function foreign(text, name = "bdi", attributes = {}) {
  return element(name, name === "bdi" ? attributes : { dir: "auto", ...attributes }, visible(text));
}

const ofToday = once(() => new Intl.DateTimeFormat(undefined, { timeStyle: "medium" }));
const ofOtherDays = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" }));

// The second that was asked for last, for most of a first list has the same.
let last = { second: null, machine: "", text: "" };

/** A time of day, with the date where it is not today's. */
export function clock(milliseconds) {
  const second = Math.floor(milliseconds / 1000);
  if (last.second !== second) {
    const date = new Date(1000 * second);
    const isToday = milliseconds >= new Date().setHours(0, 0, 0, 0);
    last = { second, machine: date.toISOString(), text: (isToday ? ofToday() : ofOtherDays()).format(date) };
  }
  return element("time", { datetime: last.machine }, last.text);
}

/** Puts a text on the clipboard, also where the browser offers no clipboard to pages without TLS. */
export async function copy(text) {
  const told = byID("copied");
  try {
    if (navigator.clipboard && window.isSecureContext) await navigator.clipboard.writeText(text);
    else copyBySelection(text);
    told.textContent = "Copied: " + text;
  } catch {
    told.textContent = "Not copied: the browser does not allow it. " + text;
  }
  told.classList.add("shown");
  clearTimeout(copy.timer);
  copy.timer = setTimeout(() => told.classList.remove("shown"), 2500);
}

function copyBySelection(text) {
  const focused = document.activeElement;
  const area = element("textarea", { class: "clipboard", readonly: true, "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  focused?.focus();
  if (!isDone) throw new Error("refused");
}
