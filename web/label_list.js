// The list of labels: a link a label, which opens and closes why it is there. A label that stays from
// one answer to the next keeps its element, so that bars move and the focus does not. Of all links
// only one is a stop of the tab key; arrow keys go on from it.

import { bar, stretch } from "./charts.js";
import { element } from "./dom.js";
import { share } from "./numbers.js";

export class LabelList {
  #list;
  #rows = new Map(); // by the name of the label

  /// `chosen` is called with the name of a label whose link was followed.
  constructor(list, chosen) {
    this.#list = list;
    list.addEventListener("click", (event) => {
      const link = event.target.closest("a.label");
      if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      chosen(link.dataset.label);
    });
    list.addEventListener("keydown", (event) => this.#press(event));
    list.addEventListener("focusin", (event) => {
      if (event.target.matches("a.label")) this.#makeStop(event.target);
    });
  }

  /// `labels`: {label, rank, score, href, why}; rank and score are null where it was not predicted,
  /// why where it is closed.
  show(labels) {
    const rows = new Map();
    labels.forEach((label, i) => {
      const row = this.#rows.get(label.label) ?? newRow(label.label);
      update(row, label);
      rows.set(label.label, row);
      const there = this.#list.children[i] ?? null;
      if (there !== row.whole) this.#list.insertBefore(row.whole, there);
    });
    while (this.#list.children.length > labels.length) this.#list.lastChild.remove();
    this.#rows = rows;
    const links = this.#links();
    this.#makeStop(links.find((link) => link.tabIndex === 0) ?? links[0]);
  }

  focus(label) {
    this.#rows.get(label)?.link.focus();
  }

  #links() {
    return [...this.#list.children].map((row) => row.firstChild);
  }

  #makeStop(stop) {
    for (const link of this.#links()) link.tabIndex = link === stop ? 0 : -1;
  }

  #press(event) {
    const links = this.#links();
    const from = links.indexOf(event.target);
    const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: links.length - 1 }[event.key];
    if (from < 0 || links[to] === undefined) return;
    event.preventDefault();
    links[to].focus();
  }
}

let rowsMade = 0;

function newRow(label) {
  const parts = {
    rank: element("span", { class: "rank" }),
    score: element("span", { class: "score" }),
    bar: bar(0),
    why: element("div", { class: "why", id: `why-${++rowsMade}` }),
  };
  parts.link = element(
    "a",
    { class: "label", "data-label": label, "aria-controls": parts.why.id, tabindex: "-1" },
    parts.rank,
    element("span", { class: "name" }, label),
    parts.score,
    parts.bar,
  );
  return { ...parts, whole: element("li", {}, parts.link, parts.why) };
}

function update(row, { rank, score, href, why }) {
  row.rank.textContent = rank === null ? "–" : String(rank);
  row.score.textContent = score === null ? "not predicted" : share(score);
  stretch(row.bar, score ?? 0);
  row.link.href = href;
  row.link.setAttribute("aria-expanded", String(why !== null));
  row.why.hidden = why === null;
  row.why.replaceChildren(...(why ?? []));
}
