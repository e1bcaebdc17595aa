// Tabs, as the ARIA Authoring Practices describe them: arrows go from one to the next, which is then shown.

/** @param chosen called with the id of the panel that is shown */
export function tabs(list, chosen) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const other of all) {
      const isChosen = other === tab;
      other.setAttribute("aria-selected", String(isChosen));
      other.tabIndex = isChosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !isChosen;
    }
    chosen(tab.getAttribute("aria-controls"));
  };
  for (const tab of all) tab.addEventListener("click", () => choose(tab));
  list.addEventListener("keydown", (event) => {
    const there = all.filter((tab) => !tab.hidden);
    const index = there.indexOf(document.activeElement);
    const next = {
      ArrowRight: (index + 1) % there.length, ArrowLeft: (index + there.length - 1) % there.length,
      Home: 0, End: there.length - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    there[next].focus();
    choose(there[next]);
  });
}
