// A small graph of what came and went: a bar up and one down for every ten seconds of the last ten minutes.

import { counted } from "./words.js";

const svg = "http://www.w3.org/2000/svg";
const [bars, span] = [60, 10_000];
const [width, height] = [240, 36];

export class Graph {
  #picture;
  #bars = [];

  constructor(figure) {
    this.#picture = made("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", preserveAspectRatio: "none" });
    this.#picture.append(made("line", { x1: 0, x2: width, y1: height / 2, y2: height / 2, class: "axis" }));
    for (let index = 0; index < bars; index += 1) {
      const place = { x: (index * width) / bars, width: width / bars - 1, height: 0, y: height / 2 };
      const pair = [made("rect", { ...place, class: "came" }), made("rect", { ...place, class: "went" })];
      this.#picture.append(...pair);
      this.#bars.push(pair);
    }
    figure.prepend(this.#picture);
  }

  draw(history, now) {
    const counts = Array.from({ length: bars }, () => [0, 0]);
    const end = Math.ceil(now / span) * span;
    let [came, went] = [0, 0];
    for (const { time, isArrival } of history) {
      const index = bars - 1 - Math.floor((end - time) / span);
      if (index < 0 || index >= bars) continue;
      counts[index][isArrival ? 0 : 1] += 1;
      if (isArrival) came += 1;
      else went += 1;
    }
    const most = Math.max(4, ...counts.flat());
    const length = (count) => (count ? Math.max(2, (count / most) * (height / 2)) : 0);
    for (const [index, [up, down]] of this.#bars.entries()) {
      const [arrivals, ends] = counts[index].map(length);
      up.setAttribute("height", arrivals);
      up.setAttribute("y", height / 2 - arrivals);
      down.setAttribute("height", ends);
    }
    this.#picture.setAttribute("aria-label",
      `In the last ten minutes ${counted(came, "service")} came and ${counted(went, "service")} went`);
  }
}

function made(name, attributes) {
  const element = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
