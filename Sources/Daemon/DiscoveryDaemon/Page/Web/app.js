// The page: joins the watch of services to the list, and the filters, tabs and panels to both.

import { byID, element } from "./dom.js";
import { Graph } from "./graph.js";
import { List } from "./list.js";
import { showBackend, showFailure, showFindings, showRegistrations } from "./panels.js";
import { Services } from "./services.js";
import { NoSession, Session } from "./session.js";
import { follow } from "./stream.js";
import { tabs } from "./tabs.js";
import { counted, inOrder, visible } from "./words.js";

const session = new Session();
const services = new Services();
const graph = new Graph(byID("graph"));
const list = new List(byID("list"), services, () => summarize());

function took(events) {
  const now = Date.now();
  for (const event of events) list.update(services.apply(event, now));
  if (events.some(({ event }) => event === "backend")) showConnection();
  if (events.some(({ event }) => event === "settled" || event === "backend" || event === "degraded")) summarize();
}

/** Why the server is not heard; nil while it is. */
let lost = "connecting";

function became(state, reason) {
  if (state === "anew") services.restart();
  lost = state === "lost" ? reason : null;
  showConnection();
}

/** Live is what is found now: neither without the server, nor while what finds is away. */
function showConnection() {
  const told = byID("connection");
  const away = services.away;
  told.dataset.state = lost === null && away === null ? "live" : "lost";
  told.textContent = lost !== null ? `Connection lost: ${visible(lost)}. Trying again…`
    : away !== null ? `Not live: discoverd finds nothing at the moment${away ? `: ${visible(away)}` : ""}` : "Live";
}

/** All that depends on the list as a whole. */
function summarize() {
  const { present, gone, isSettled, away, degraded } = services;
  const filter = list.filter;
  const isFiltered = filter.words.length > 0 || filter.type !== "" || filter.network !== "";
  const parts = [isFiltered ? `${list.shown} of ${counted(present + gone, "service")}` : counted(present, "service")];
  if (gone) parts.push(`${gone} gone`);
  if (!isSettled) parts.push("still looking");
  if (away !== null) parts.push("discoverd finds nothing at the moment: these are from before");
  if (degraded) parts.push(`not everything may be here: ${visible(degraded)}`);
  const text = parts.join(", ");
  if (byID("count").textContent !== text) byID("count").textContent = text;
  const isDone = isSettled && list.isIdle;
  byID("empty").hidden = !isDone || list.shown > 0;
  byID("empty").textContent = isFiltered ? "No service matches." : "No service is on this network now.";
  byID("forget").disabled = gone === 0;
  byID("list").setAttribute("aria-busy", String(!isDone));
  if (isDone && !document.documentElement.dataset.drawn) {
    // For whoever measures how long the first list took.
    document.documentElement.dataset.drawn = performance.now().toFixed(1);
  }
  choices(byID("type"), "every type", (service) => [service.type]);
  choices(byID("interface"), "every interface", (service) => service.interfaces ?? []);
  graph.draw(services.history, Date.now());
}

function choices(select, every, values) {
  const all = new Set();
  for (const { service } of services.items) for (const value of values(service)) all.add(value);
  if (select.value) all.add(select.value);
  const wanted = ["", ...[...all].sort(inOrder)];
  const has = [...select.options].map((option) => option.value);
  if (wanted.length === has.length && wanted.every((value, index) => value === has[index])) return;
  const chosen = select.value;
  select.replaceChildren(...wanted.map((value) => element("option", { value }, value ? visible(value) : every)));
  select.value = chosen;
}

function filtered() {
  list.filter = {
    words: byID("search").value.toLowerCase().split(/\s+/).filter(Boolean),
    type: byID("type").value, network: byID("interface").value, showsGone: byID("gone").checked,
  };
  list.refilter();
}

for (const id of ["search", "type", "interface", "gone"]) byID(id).addEventListener("input", filtered);
byID("filters").addEventListener("submit", (event) => event.preventDefault());
for (const radio of document.getElementsByName("group")) {
  radio.addEventListener("change", () => list.regroup(radio.value === "host" && radio.checked));
}
byID("forget").addEventListener("click", () => list.update(services.forget()));
document.addEventListener("keydown", (event) => {
  const search = byID("search");
  const isTyping = event.target.matches("input:not([type=radio]):not([type=checkbox]), select, textarea");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "Escape" && event.target === search && search.value) {
    event.preventDefault();
    search.value = "";
    filtered();
  } else if (event.key === "ArrowDown" && event.target === search) {
    event.preventDefault();
    document.querySelector(".group:not([hidden]) li:not([hidden]) .name")?.focus();
  }
});

let panel = "services";
let isExamined = false;

async function refresh() {
  try {
    if (panel === "registrations") {
      const { registrations } = await session.json("v1/registrations");
      showRegistrations(byID("registrations-body"), registrations ?? [], session.facts);
    } else if (panel === "backend") {
      showBackend(byID("backend-body"), await session.json("v1/status"), session.facts);
    }
  } catch (error) {
    if (error instanceof NoSession) return refused(error);
    showFailure(byID(`${panel}-body`), error.message);
  }
}

async function examine() {
  isExamined = true;
  byID("examine").disabled = true;
  const body = byID("doctor-body");
  body.replaceChildren(element("p", {}, "Looking…"));
  try {
    showFindings(body, (await session.json("v1/doctor")).findings ?? []);
  } catch (error) {
    if (error instanceof NoSession) return refused(error);
    showFailure(body, error.message);
  }
  byID("examine").disabled = false;
}

function refused(error) {
  const notice = byID("notice");
  const why = { used: "This link was opened before.", none: "This page needs a link of its own.", over: "This link has ended." };
  notice.replaceChildren(`${why[error.message]} Run `, element("code", {}, "discoverd show"),
    " again, and open the link that it prints.");
  notice.hidden = false;
  byID("connection").dataset.state = "lost";
  byID("connection").textContent = "Not connected";
  byID("tabs").hidden = true;
  for (const section of document.querySelectorAll("[role=tabpanel]")) section.hidden = true;
}

tabs(byID("tabs"), (id) => {
  panel = id;
  refresh();
  if (id === "doctor" && !isExamined) examine();
});
byID("examine").addEventListener("click", examine);
setInterval(refresh, 3000);
setInterval(() => {
  graph.draw(services.history, Date.now());
  list.age(Date.now());
}, 5000);

try {
  await session.open();
  byID("tab-doctor").hidden = !session.facts.doctor;
  await follow(session, "v1/services/watch?view=page", took, became);
} catch (error) {
  if (error instanceof NoSession) refused(error);
  else became("lost", error.message);
}
