// One service as a row of the list, and its details below it.

import { commands, link } from "./commands.js";
import { clock, copy, element, foreign } from "./dom.js";
import { newFor } from "./services.js";
import { typeName } from "./types.js";
import { txtText, visible } from "./words.js";

const states = {
  found: "not resolved yet", resolved: "resolved", unavailable: "offers nothing", unreachable: "does not answer",
};

// What every row has: to copy it takes a fraction of the time that it takes to make it.
const pattern = element("li", { class: "service" },
  element("div", { class: "what" },
    element("button", { type: "button", class: "name", "aria-expanded": "false" }), element("span", { class: "marks" })),
  element("div", { class: "cells" },
    ...["where", "host", "txt", "interfaces", "since"].map((name) => element("div", { class: name }))),
  element("div", { class: "actions" }));

export class Row {
  isOpen = false;
  /** The group that counts it among what it shows. */
  countedIn = null;
  #item = null;
  // Kept for as long as the row, so that the focus stays where it is.
  element = pattern.cloneNode(true);
  #name;
  #marked;
  #cells;
  #actions;

  constructor() {
    const [what, cells, actions] = this.element.children;
    [this.#name, this.#marked] = what.children;
    this.#cells = cells.children;
    this.#actions = actions;
    this.#name.addEventListener("click", () => this.toggle());
  }

  get item() { return this.#item; }

  show(item, byHost) {
    this.#item = item;
    const { service } = item;
    this.element.dataset.state = item.isGone ? "gone" : (service.state ?? "found");
    const href = item.isGone ? null : link(service);
    const [command] = item.isGone ? [] : commands(service);
    this.#name.replaceChildren(foreign(service.name));
    this.#marked.replaceChildren(...this.#marks(item, byHost));
    const cells = [
      addresses(service), [foreign(service.host ?? "–"), service.port ? `:${service.port}` : ""], txt(service),
      [foreign((service.interfaces ?? []).join(", ") || "–")], since(item),
    ];
    cells.forEach((parts, index) => this.#cells[index].replaceChildren(...parts));
    if (!this.#actions.contains(document.activeElement) || item.isGone) {
      const parts = [
        href && element("a", { href, target: "_blank", rel: "noopener noreferrer", title: href }, "Open"),
        command && copyButton(command),
      ];
      this.#actions.replaceChildren(...parts.filter(Boolean));
    }
    const old = this.element.querySelector(".details");
    if (old && (item.isGone || !old.contains(document.activeElement))) old.replaceWith(details(item));
  }

  toggle() {
    this.isOpen = !this.isOpen;
    this.#name.setAttribute("aria-expanded", String(this.isOpen));
    if (this.isOpen) this.element.append(details(this.#item));
    else this.element.querySelector(".details")?.remove();
  }

  #marks(item, byHost) {
    const { service } = item;
    const marks = [];
    if (byHost) marks.push(element("span", { class: "type" }, foreign(service.type)));
    if (service.domain !== "local") marks.push(element("span", { class: "mark" }, foreign(service.domain)));
    if (item.isGone) marks.push(element("span", { class: "mark gone" }, "gone"));
    else if (item.arrived !== null && Date.now() - item.arrived < newFor) {
      marks.push(element("span", { class: "mark new" }, "new"));
    }
    if (service.own) marks.push(element("span", { class: "mark" }, "this machine’s"));
    if (service.authenticated) marks.push(element("span", { class: "mark" }, "DNSSEC"));
    if (!item.isGone && service.state !== "resolved") {
      marks.push(element("span", { class: "mark bad" }, states[service.state] ?? visible(String(service.state))));
    }
    return marks;
  }
}

const addresses = ({ endpoints }) => {
  const all = [...new Set((endpoints ?? []).map(({ address }) => address))];
  return all.length ? all.map((address) => foreign(address, "span", { class: "address" })) : ["–"];
};

const txt = ({ txt }) =>
  Object.entries(txt ?? {}).map(([key, value]) => element("bdi", { class: "pair" }, txtText(key, value)));

const since = (item) =>
  item.isGone ? ["gone at ", clock(item.until)]
    : item.isSinceKnown ? ["since ", clock(item.since)] : ["since before ", clock(item.since)];

function copyButton(command) {
  const button = element("button", { type: "button", class: "copy", title: command, "aria-label": `Copy ${command}` },
    `Copy ${command.split(" ")[0]} command`);
  button.dataset.command = command;
  button.addEventListener("click", () => copy(command));
  return button;
}

function details(item) {
  const { service } = item;
  const list = element("dl");
  const add = (term, ...values) => {
    if (values.length) list.append(element("dt", {}, term), ...values.map((value) => element("dd", {}, value)));
  };
  add("Type", foreign(typeName(service.type) ? `${service.type}, ${typeName(service.type)}` : service.type));
  add("Domain", foreign(service.domain));
  add("Subtypes", ...(service.subtypes ?? []).map((subtype) => foreign(subtype)));
  add("State", item.isGone ? "gone" : states[service.state] ?? visible(String(service.state ?? "found")));
  add("Seen", element("span", {}, ...since(item)));
  if (item.changed) add("Changed", element("span", {}, clock(item.changed)));
  if (service.host) add("Host", foreign(service.host));
  if (service.port) add("Port", String(service.port));
  const permitted = new Set(service.permitted ?? []);
  add("Addresses", ...(service.endpoints ?? []).map(({ address, port, interface: network }) => {
    const text = `${address.includes(":") ? `[${address}]` : address}:${port}${network ? ` on ${network}` : ""}`;
    const refused = service.permitted && !permitted.has(address);
    return element("span", {}, foreign(text), refused ? " (not dialled: the address policy refuses it)" : "");
  }));
  if (service.withheld) add("Withheld", foreign(service.withheld));
  add("TXT", ...txt(service));
  if (service.truncated) add("TXT", "The rest of the record was cut.");
  add("Interfaces", ...(service.interfaces ?? []).map((network) => foreign(network)));
  if (!item.isGone) {
    add("Commands", ...commands(service).map((command) =>
      element("span", { class: "command" }, element("code", {}, command), copyButton(command))));
  }
  return element("div", { class: "details" }, list);
}
