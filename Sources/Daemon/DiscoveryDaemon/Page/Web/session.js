// Whom the page asks, and with which key. `discoverd show` gives a token in the URL's fragment, which is exchanged once for a
// key; the key stays in sessionStorage, and goes out in a header alone. The daemon's TCP address needs none.

const stored = "discoverd.key";

export class NoSession extends Error {}

export class Session {
  #key = null;
  /** What the server offers: `session` (it wants a key), `doctor`, `daemon`. */
  facts = {};

  /** Finds out what the server is, and exchanges the token if there is one. */
  async open() {
    const token = location.hash.slice(1);
    // The fragment must not stay where another person of this browser could copy it.
    if (token) history.replaceState(null, "", location.pathname);
    this.facts = await (await fetch("page.json", { cache: "no-store" })).json();
    if (!this.facts.session) return;
    this.#key = token ? await this.#exchange(token) : sessionStorage.getItem(stored);
    if (!this.#key) throw new NoSession(token ? "used" : "none");
  }

  async #exchange(token) {
    const answer = await fetch("session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    if (!answer.ok) {
      // A reload of the tab that has the key already.
      return sessionStorage.getItem(stored);
    }
    const { key } = await answer.json();
    sessionStorage.setItem(stored, key);
    return key;
  }

  /** Asks the server; throws `NoSession` where the key is not taken any more. */
  async ask(target, options = {}) {
    const headers = this.#key ? { Authorization: `Bearer ${this.#key}` } : {};
    const answer = await fetch(target, { ...options, headers, cache: "no-store" });
    if (answer.status === 401) {
      sessionStorage.removeItem(stored);
      throw new NoSession("over");
    }
    return answer;
  }

  /** Asks for JSON; throws the server's words where it refuses. */
  async json(target) {
    const answer = await this.ask(target);
    const value = await answer.json();
    if (!answer.ok && !value.status) throw new Error(value.error?.message ?? `status ${answer.status}`);
    return value;
  }
}
