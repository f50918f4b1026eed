// Charts as SVG. Places along the width are in percent and heights in pixels, so that a chart fills
// what room there is while its letters keep their size. Each has its numbers in a table as well.

import { drawing, element } from "./dom.js";

/// A line as long as a share of the width. What it shows stands beside it in digits.
export function bar(share) {
  const drawn = drawing(
    "svg",
    { class: "bar", "aria-hidden": "true" },
    drawing("rect", { class: "all", width: "100%", height: "100%" }),
    drawing("rect", { class: "part", height: "100%" }),
  );
  stretch(drawn, share);
  return drawn;
}

export function stretch(drawn, share) {
  drawn.lastChild.setAttribute("width", `${100 * Math.min(1, Math.max(0, share))}%`);
}

/// A line to the left or right of a zero that bars of `least` to `most` have in common.
export function signedBar(value, least, most) {
  const percent = (number) => `${((100 * (number - least)) / (most - least || 1)).toFixed(2)}%`;
  const [from, length] = value < 0 ? [value, -value] : [0, value];
  return drawing(
    "svg",
    { class: "signed bar", "aria-hidden": "true" },
    drawing("line", { class: "zero", x1: percent(0), x2: percent(0), y1: 0, y2: "100%" }),
    drawing("rect", {
      class: value < 0 ? "against" : "for",
      x: percent(from),
      width: percent(least + length),
      height: "100%",
    }),
  );
}

/// Columns side by side. `columns`: {name, heights, texts, value, faint}; the heights of a column
/// stand in front of each other, the tallest first; `texts` are its cells in the table; `value`, if
/// there is one, stands above it. `ticks`: {at, text}, a place in columns from the left.
export function columnChart({ title, reading, heads, columns, ticks }) {
  return element(
    "figure",
    { class: "chart" },
    element("figcaption", {}, element("h3", {}, title), element("p", {}, reading)),
    columnDrawing(`${title}. ${reading}`, columns, ticks),
    element(
      "details",
      {},
      element("summary", {}, "The numbers"),
      table(
        heads,
        columns.map(({ name, texts }) => [name, ...texts]),
        title,
      ),
    ),
  );
}

export function table(heads, rows, caption) {
  return element(
    "div",
    { class: "wide", tabindex: "0", role: "group", "aria-label": caption },
    element(
      "table",
      {},
      element("caption", { class: "unseen" }, caption),
      element("thead", {}, element("tr", {}, ...heads.map(headCell))),
      element("tbody", {}, ...rows.map(tableRow)),
    ),
  );
}

function headCell(head) {
  return element("th", { scope: "col" }, head);
}

function tableRow([name, ...cells]) {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    ...cells.map((cell) => element("td", {}, cell)),
  );
}

const floor = 150; // pixels from the top to the line on which columns stand
const headroom = 18; // for the number above the tallest

function columnDrawing(description, columns, ticks) {
  const most = Math.max(...columns.flatMap(({ heights }) => heights), Number.MIN_VALUE);
  const step = 100 / columns.length;
  const height = (value) => ((floor - headroom) * value) / most;
  const column = ({ name, heights, texts, value, faint }, i) => {
    const top = floor - height(Math.max(...heights));
    return drawing(
      "g",
      { class: faint ? "faint" : null },
      drawing("title", {}, `${name}: ${texts.join(", ")}`),
      ...heights.map((each, nth) =>
        drawing("rect", {
          class: `column-${nth + 1}`,
          x: `${step * (i + 0.08)}%`,
          width: `${step * 0.84}%`,
          y: floor - height(each),
          height: height(each),
        }),
      ),
      value === undefined ? null : drawing("text", { x: `${step * (i + 0.5)}%`, y: top - 5 }, value),
    );
  };
  return drawing(
    "svg",
    { class: "columns", role: "img", "aria-label": description },
    ...columns.map(column),
    ...ticks.map(({ at, text }) => drawing("text", { x: `${step * at}%`, y: floor + 16 }, text)),
    drawing("line", { class: "floor", x1: 0, x2: "100%", y1: floor, y2: floor }),
  );
}
