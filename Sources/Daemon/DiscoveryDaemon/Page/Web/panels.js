// What this machine publishes, how its daemon is, and what doctor finds.

import { element, foreign } from "./dom.js";
import { counted } from "./words.js";

/** A table, each cell with its heading for narrow screens. */
function table(caption, headings, rows) {
  const head = element("tr", {}, ...headings.map((heading) => element("th", { scope: "col" }, heading)));
  const body = rows.map((cells) =>
    element("tr", {}, ...cells.map((cell, index) => element("td", { "data-heading": headings[index] }, cell ?? ""))));
  return element("table", {}, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body));
}

const mark = (text, isGood) => element("span", { class: isGood ? "mark good" : "mark bad" }, foreign(text));

// Words for people in the place of names that programs read.
const states = { established: "published", registering: "waiting", conflicted: "failed" };
const origins = { detached: "--detach", attached: "a command" };
const checks = { finder: "finds", publisher: "publishes", wire: "port" };
const works = { avahi: "through avahi-daemon", system: "through avahi-daemon" };
const parts = { finder: { word: "finds", wire: "on its links" }, publisher: { word: "publishes", wire: "by itself", auto: "–" } };
const answers = { available: "yes", recovered: "yes", unavailable: "no", lost: "no", unknown: "not asked yet" };

export function showRegistrations(body, registrations, facts) {
  if (facts.daemon === false) {
    return body.replaceChildren(element("p", {}, "No daemon runs, which would keep services published."));
  }
  if (!registrations.length) return body.replaceChildren(element("p", {}, "The daemon publishes nothing."));
  // Over TCP there are no reasons.
  const reasons = facts.session;
  const headings = ["Name", "Type", "Port", "State", "Health", ...(reasons ? ["Check", "Reason"] : []), "From"];
  const rows = registrations.map((one) => [
    element("span", {}, foreign(one.name), one.wanted !== one.name ? foreign(` (wanted ${one.wanted})`) : ""),
    foreign(!one.type ? (one.addresses ?? []).join(", ") : one.domain === "local" ? one.type : `${one.type}, ${one.domain}`),
    one.port ? String(one.port) : "–",
    mark(states[one.state] ?? one.state, one.state === "established"), one.health ? mark(one.health, one.health === "passing") : "–",
    ...(reasons ? [foreign(one.check ?? "–"), foreign(one.reason ?? one.warning ?? "–")] : []), foreign(origins[one.origin] ?? one.origin ?? ""),
  ]);
  body.replaceChildren(table(counted(registrations.length, "service"), headings, rows));
}

export function showBackend(body, status, facts) {
  const good = new Set(["available", "recovered"]);
  const rows = Object.keys(parts).filter((role) => status[role]).map((role) => [
    parts[role].word, foreign(how(parts[role], status[role].by ?? status[role].kind ?? "")),
    mark(answers[status[role].state] ?? status[role].state, good.has(status[role].state)),
    ...(facts.session ? [foreign(status[role].reason ?? "–")] : []),
  ]);
  const headings = ["What it does", "How", "Answers", ...(facts.session ? ["Reason"] : [])];
  const said = [element("p", {}, mark(status.degraded ? "not well" : "all is well", !status.degraded),
    ` discoverd ${status.version ?? ""}`, status.uptimeSeconds === undefined ? "" : `, up ${duration(status.uptimeSeconds)}`)];
  if (status.reasons?.length) {
    said.push(element("ul", { class: "reasons" }, ...status.reasons.map((reason) => element("li", {}, foreign(reason)))));
  }
  said.push(table("What the daemon does", headings, rows));
  if (status.domains?.length) {
    said.push(table("Domains of DNS servers", ["Domain", "State", "Services"], status.domains.map((domain) =>
      [foreign(domain.name), mark(domain.state, ["held", "idle"].includes(domain.state)), String(domain.services ?? 0)])));
  }
  body.replaceChildren(...said);
}

const how = (part, kind) => part[kind] ?? works[kind] ?? kind;

export function showFindings(body, findings) {
  const isGood = ({ verdict }) => verdict === "ok" || verdict === "skip";
  const list = (some, caption) => table(caption, ["Verdict", "Check", "What was found", "What to do"],
    some.map((one) => [mark(one.verdict, isGood(one)), foreign(checks[one.check] ?? one.check), foreign(one.text), foreign(one.advice ?? "–")]));
  const [bad, good] = [findings.filter((one) => !isGood(one)), findings.filter(isGood)];
  const passed = bad.length ? `${counted(good.length, "check")} passed` : `All ${counted(good.length, "check")} passed`;
  body.replaceChildren(
    ...(bad.length ? [list(bad, counted(bad.length, "finding"))] : [element("p", {}, mark(`${passed}.`, true))]),
    element("details", {}, element("summary", {}, bad.length ? passed : "What was checked"), list(good, passed)));
}

export function showFailure(body, text) {
  body.replaceChildren(element("p", { class: "notice" }, foreign(text)));
}

function duration(seconds) {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
