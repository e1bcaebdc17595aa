// The list: groups with a heading each, rows sorted within them, drawn in pieces so that no frame waits long.

import { element, foreign } from "./dom.js";
import { Row } from "./row.js";
import { matches, newFor, order } from "./services.js";
import { typeName } from "./types.js";
import { counted, inOrder } from "./words.js";

/** How long one piece of work may take, in milliseconds: half a frame, and more while there is nothing to look at yet. */
const budget = 8;
const firstBudget = 100;

export class List {
  #container;
  #services;
  /** By key: the row, and the group that it is in. */
  #rows = new Map();
  #groups = new Map();
  /** Groups in the order of the document. */
  #sorted = [];
  #dirty = new Set();
  #isScheduled = false;
  #hasDrawn = false;
  #drawn;
  isByHost = false;
  filter = { words: [], type: "", network: "", showsGone: true };
  /** How many rows are shown. */
  shown = 0;

  /** @param drawn called when nothing is left to draw */
  constructor(container, services, drawn) {
    this.#container = container;
    this.#services = services;
    this.#drawn = drawn;
    container.addEventListener("keydown", (event) => this.#pressed(event));
  }

  get isIdle() { return this.#dirty.size === 0; }

  /** Draws these again, soon. */
  update(keys) {
    for (const key of keys) this.#dirty.add(key);
    this.#schedule();
  }

  /** Groups all anew. */
  regroup(isByHost) {
    this.isByHost = isByHost;
    for (const group of this.#sorted) group.element.remove();
    this.#groups.clear();
    this.#sorted = [];
    for (const place of this.#rows.values()) place.group = place.row.countedIn = null;
    this.shown = 0;
    this.update(this.#rows.keys());
  }

  /** Applies the filter to every row. */
  refilter() {
    for (const { row, group } of this.#rows.values()) if (group) this.#filtered(row, group);
    for (const group of this.#sorted) this.#headed(group);
    this.#drawn();
  }

  /** Takes off the marks of what is no longer new. */
  age(now) {
    const aged = [...this.#rows].filter(([, { row }]) =>
      row.item.arrived !== null && now - row.item.arrived >= newFor && row.element.querySelector(".mark.new"));
    if (aged.length) this.update(aged.map(([key]) => key));
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Hidden pages get no frames.
    if (document.hidden) setTimeout(() => this.#draw(), 50);
    else requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#isScheduled = false;
    const end = performance.now() + (this.#hasDrawn ? budget : firstBudget);
    const touched = new Set();
    for (const key of this.#dirty) {
      this.#dirty.delete(key);
      this.#place(key, touched);
      if (performance.now() > end) break;
    }
    for (const group of touched) this.#headed(group);
    if (this.#dirty.size) return this.#schedule();
    this.#hasDrawn = this.#services.isSettled;
    this.#drawn();
  }

  #place(key, touched) {
    const item = this.#services.item(key);
    const place = this.#rows.get(key) ?? { row: new Row(), group: null };
    if (!item) {
      if (place.group) this.#leave(place, touched);
      this.#rows.delete(key);
      return;
    }
    this.#rows.set(key, place);
    const name = this.#groupName(item);
    if (place.group && place.group.name !== name) this.#leave(place, touched);
    const isNew = place.row.item === null;
    place.row.show(item, this.isByHost);
    if (!place.group) this.#enter(place, name);
    touched.add(place.group);
    this.#filtered(place.row, place.group);
    if (!isNew && item.changed && Date.now() - item.changed < 1000) flash(place.row.element);
    if (isNew && item.arrived !== null) flash(place.row.element);
  }

  #groupName({ service }) { return this.isByHost ? service.host ?? "" : service.type; }

  #enter(place, name) {
    const group = this.#groups.get(name) ?? this.#made(name);
    place.group = group;
    const index = position(group.rows, (other) => order(place.row.item, other.item) < 0);
    const next = group.rows[index];
    group.rows.splice(index, 0, place.row);
    group.list.insertBefore(place.row.element, next?.element ?? null);
  }

  #leave(place, touched) {
    const { group, row } = place;
    group.rows.splice(group.rows.indexOf(row), 1);
    if (row.countedIn) this.#count(group, -1);
    row.countedIn = null;
    row.element.remove();
    place.group = null;
    touched.delete(group);
    if (group.rows.length) return void touched.add(group);
    group.element.remove();
    this.#groups.delete(group.name);
    this.#sorted.splice(this.#sorted.indexOf(group), 1);
  }

  #made(name) {
    const list = element("ul", { role: "list" });
    const count = element("span", { class: "count" });
    const spoken = this.isByHost ? null : typeName(name);
    const title = spoken ? [spoken, " ", foreign(name, "span", { class: "type" })] : [name ? foreign(name) : "Host not known yet"];
    const heading = element("h2", { id: `group-${(List.#last += 1)}` }, ...title, " ", count);
    const group = { name, list, count, rows: [], shown: 0, title: (spoken ?? name) || "\u{10FFFF}", element: null };
    group.element = element("section", { class: "group", "aria-labelledby": heading.id }, heading, list);
    const index = position(this.#sorted, (other) => (inOrder(group.title, other.title) || inOrder(name, other.name)) < 0);
    this.#container.insertBefore(group.element, this.#sorted[index]?.element ?? null);
    this.#sorted.splice(index, 0, group);
    this.#groups.set(name, group);
    return group;
  }

  static #last = 0;

  #filtered(row, group) {
    const isShown = matches(row.item, this.filter);
    const wasShown = row.countedIn !== null;
    if (row.element.hidden === isShown) row.element.hidden = !isShown;
    if (isShown !== wasShown) this.#count(group, isShown ? 1 : -1);
    row.countedIn = isShown ? group : null;
  }

  #count(group, by) {
    group.shown += by;
    this.shown += by;
  }

  #headed(group) {
    group.element.hidden = group.shown === 0;
    const gone = group.rows.reduce((sum, { item }) => sum + (item.isGone ? 1 : 0), 0);
    const text = counted(group.rows.length - gone, "service") + (gone ? `, ${gone} gone` : "");
    if (group.count.textContent !== text) group.count.textContent = text;
  }

  #pressed(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !event.target.matches(".name")) return;
    const names = [...this.#container.querySelectorAll(".group:not([hidden]) li:not([hidden]) .name")];
    const index = Math.max(0, Math.min(names.length - 1, names.indexOf(event.target) + steps[event.key]));
    event.preventDefault();
    names[index]?.focus();
  }
}

/** The first index at which `isBefore` is true, of a sorted array. */
function position(array, isBefore) {
  let [low, high] = [0, array.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(array[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

function flash(row) {
  row.classList.remove("flash");
  requestAnimationFrame(() => row.classList.add("flash"));
}
