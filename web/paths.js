// The paths by which a search came to a label, drawn as what they are: from the text to the clusters
// it fits, and on to the label, each line as wide as its score. The clusters are a list in the page;
// lines are drawn on either side of it, to wherever its entries came to lie.

import { drawing, element, joined, link } from "./dom.js";
import { written } from "./address.js";
import { counted, grouped, share } from "./numbers.js";

const mostPaths = 5;
const widest = 9; // pixels of a line with the score 1

export function pathsFigure(paths, model) {
  const shown = paths.slice(0, mostPaths);
  const before = drawing("svg", { "aria-hidden": "true", height: 0 });
  const behind = drawing("svg", { "aria-hidden": "true", height: 0 });
  const list = element("ol", {}, ...shown.map((path, i) => pathEntry(path, i === 0, model)));
  const figure = element(
    "div",
    { class: "paths" },
    element("span", { class: "end", "aria-hidden": "true" }, "text"),
    element("span", { class: "end", "aria-hidden": "true" }, "label"),
    before,
    list,
    behind,
  );
  new ResizeObserver(() => {
    drawFan(before, list, shown.map(startOf), false);
    drawFan(behind, list, shown.map(endOf), true);
  }).observe(list);
  if (paths.length === shown.length) return figure;
  const others = counted(paths.length - shown.length, "other path");
  return element("div", {}, figure, element("p", { class: "aside" }, `and ${others} of lower score`));
}

function startOf({ cluster_score: score, searched }) {
  return { score, searched };
}

function endOf({ edge_score: score, searched }) {
  return { score, searched };
}

function pathEntry(path, best, model) {
  const product = `s ${share(path.cluster_score, 3)} × edge ${share(path.edge_score, 3)}`;
  const result = path.searched ? ` = ${share(path.score, 3)}` : ", not searched";
  const portraitOf = (label) => written({ view: "label", model, label });
  const company = path.other_labels.map((label) => link(portraitOf(label), label));
  return element(
    "li",
    { class: best ? "best" : null },
    element("span", { class: "cluster" }, `cluster ${grouped(path.cluster)}`),
    element("span", { class: "product" }, product + result),
    element("span", { class: "company" }, ...joined(company, ", ")),
  );
}

/// Lines between the middle of the drawing's outer edge and each entry of the list.
function drawFan(svg, list, ends, flipped) {
  const height = list.clientHeight;
  const width = svg.clientWidth;
  svg.setAttribute("height", height);
  const [outer, inner] = flipped ? [width, 0] : [0, width];
  const lines = ends.map(({ score, searched }, i) => {
    const entry = list.children[i];
    const y = entry.offsetTop - list.offsetTop + entry.clientHeight / 2;
    return drawing("path", {
      class: [i === 0 ? "best" : "", searched ? "" : "unsearched"].join(" ").trim() || null,
      d: `M ${outer} ${height / 2} C ${width / 2} ${height / 2} ${width / 2} ${y} ${inner} ${y}`,
      "stroke-width": Math.max(0.75, widest * Math.min(1, score)),
    });
  });
  svg.replaceChildren(...lines.reverse()); // the best lies on top
}
