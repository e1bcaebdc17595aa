// Where a service's link leads, and which commands reach it. Values only.

import { quoted } from "./words.js";
import { scheme } from "./types.js";

/** Endpoints that the address policy permits and a URL can name: a URL has no place for a zone (RFC 9844). */
function dialable(service) {
  const permitted = new Set(service.permitted ?? []);
  return (service.endpoints ?? []).filter(({ address, port }) =>
    permitted.has(address) && !address.includes("%") && Number.isInteger(port) && port > 0 && port < 65536);
}

/** What TXT says of the path, where it can be part of a URL: from `/`, and nothing of an authority. */
function path(service, kind) {
  const said = service.txt?.[kind.startsWith("ipp") ? "rp" : "path"];
  if (typeof said !== "string" || said === "") return "/";
  const from = kind.startsWith("ipp") && !said.startsWith("/") ? "/" + said : said;
  if (!/^\/(?![/\\])/.test(from) || from.length > 512) return "/";
  let text = "";
  for (const byte of new TextEncoder().encode(from)) {
    const character = String.fromCharCode(byte);
    text += /[A-Za-z0-9\-._~!$&()*+,;=:@/?%]/.test(character) ? character : "%" + byte.toString(16).toUpperCase().padStart(2, "0");
  }
  return text;
}

/** The URL of a service; null where no permitted address or no scheme is known. */
export function link(service) {
  const kind = scheme(service.type);
  const endpoint = kind && service.state === "resolved" ? dialable(service)[0] : undefined;
  if (!endpoint) return null;
  const host = endpoint.address.includes(":") ? `[${endpoint.address}]` : endpoint.address;
  if (!/^[0-9.]+$|^\[[0-9A-Fa-f:.]+\]$/.test(host)) return null;
  const web = ["http", "https", "ipp", "ipps"].includes(kind);
  const href = `${kind}://${host}:${endpoint.port}${web ? path(service, kind) : ""}`;
  try {
    const url = new URL(href);
    return url.username === "" && url.password === "" && url.protocol === kind + ":" ? href : null;
  } catch {
    return null;
  }
}

/** Commands for a service, the most useful first. */
export function commands(service) {
  const list = [];
  const href = link(service);
  const kind = scheme(service.type);
  if (href && (kind === "http" || kind === "https")) list.push(`curl ${quoted(href)}`);
  const endpoint = dialable(service)[0];
  if (kind === "ssh" && endpoint && service.state === "resolved") list.push(`ssh -p ${endpoint.port} ${endpoint.address}`);
  const words = [service.name, service.type].map(quoted);
  const domain = service.domain === "local" ? "" : ` --domain ${quoted(service.domain)}`;
  if (!words.includes(null)) {
    const dashes = service.name.startsWith("-") ? " --" : "";
    list.push(`discoverd resolve${domain}${dashes} ${words.join(" ")}`);
    list.push(`discoverd connect${domain}${dashes} ${words.join(" ")}`);
  }
  return list;
}
