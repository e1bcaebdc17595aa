// What is on the network, as events say it. Values only: no element, no clock of its own.

import { inOrder, txtText } from "./words.js";
import { typeName } from "./types.js";

/** How many services are remembered after they went. */
const mostGone = 500;

/** `added` for a minute. */
export const newFor = 60_000;

export class Services {
  /** By name, type and domain. */
  #all = new Map();
  #gone = new Set();
  isSettled = false;
  backend = null;
  degraded = null;
  /** Comings and goings since the first list: `{ time, isArrival }`, of ten minutes. */
  history = [];

  static key({ name, type, domain }) {
    return JSON.stringify([name, type, domain]);
  }

  /** Why what finds is away, or "" where that is not said; null while it is there. */
  get away() {
    return ["lost", "unavailable"].includes(this.backend?.state) ? this.backend.reason ?? "" : null;
  }

  get present() { return this.#all.size - this.#gone.size; }
  get gone() { return this.#gone.size; }
  get items() { return this.#all.values(); }
  item(key) { return this.#all.get(key); }

  /** A list follows that replaces all: what it does not have by its end is gone. */
  restart() {
    this.isSettled = false;
    this.backend = null;
    // What is still left out is said again.
    this.degraded = null;
    for (const item of this.#all.values()) item.isConfirmed = false;
  }

  /** Takes an event in; returns the keys of what has changed. */
  apply(event, now) {
    switch (event.event) {
      case "added":
      case "updated":
        return this.#seen({ ...event.service, permitted: event.permitted }, event, now);
      case "removed":
        return this.#left(Services.key(event.service), now);
      case "settled":
        return this.#settled(now);
      case "backend":
        this.backend = event;
        return [];
      case "degraded":
        this.degraded = event.reason;
        return [];
      default:
        return [];
    }
  }

  /** Forgets what is gone; returns its keys. */
  forget() {
    const keys = [...this.#gone];
    for (const key of keys) this.#all.delete(key);
    this.#gone.clear();
    return keys;
  }

  #seen(service, { seconds, arrived, event }, now) {
    const key = Services.key(service);
    const old = this.#all.get(key);
    const isBack = !old || old.isGone;
    const since = isBack ? now - 1000 * (seconds ?? 0) : old.since;
    const item = {
      key, service, since, isGone: false, isConfirmed: true, until: null,
      // Nil for what was there before the page was.
      arrived: isBack ? (this.isSettled ? now : null) : old.arrived,
      isSinceKnown: isBack ? this.isSettled || arrived === true : old.isSinceKnown,
      changed: event === "updated" && !isBack && this.isSettled ? now : old?.changed ?? null,
      haystack: haystack(service),
    };
    this.#all.set(key, item);
    this.#gone.delete(key);
    if (isBack && this.isSettled) this.#note(now, true);
    return [key];
  }

  #left(key, now) {
    const item = this.#all.get(key);
    if (!item || item.isGone) return [];
    this.#all.set(key, { ...item, isGone: true, until: now });
    this.#gone.add(key);
    this.#note(now, false);
    const keys = [key];
    while (this.#gone.size > mostGone) {
      const [oldest] = this.#gone;
      this.#gone.delete(oldest);
      this.#all.delete(oldest);
      keys.push(oldest);
    }
    return keys;
  }

  #settled(now) {
    this.isSettled = true;
    const lost = [...this.#all.values()].filter((item) => !item.isConfirmed && !item.isGone);
    return lost.flatMap((item) => this.#left(item.key, now));
  }

  #note(now, isArrival) {
    this.history.push({ time: now, isArrival });
    while (this.history.length > 20_000 || (this.history[0] && this.history[0].time < now - 600_000)) this.history.shift();
  }
}

/** What a search looks in. */
function haystack(service) {
  const txt = Object.entries(service.txt ?? {}).map(([key, value]) => txtText(key, value));
  const addresses = (service.endpoints ?? []).map(({ address, port }) => `${address} ${port}`);
  return [service.name, service.type, typeName(service.type) ?? "", service.domain, service.host ?? "", service.state ?? "",
    ...(service.interfaces ?? []), ...(service.subtypes ?? []), ...addresses, ...txt].join("\n").toLowerCase();
}

/** Whether a service is to be shown. All words of the search must be in it. */
export function matches(item, { words, type, network, showsGone }) {
  if (item.isGone && !showsGone) return false;
  if (type && item.service.type !== type) return false;
  if (network && !(item.service.interfaces ?? []).includes(network)) return false;
  return words.every((word) => item.haystack.includes(word));
}

/** The order within a group: by name, then type, then domain. */
export const order = (one, other) =>
  inOrder(one.service.name, other.service.name) || inOrder(one.service.type, other.service.type)
  || (one.key < other.key ? -1 : one.key > other.key ? 1 : 0);
