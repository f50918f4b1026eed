// What a model's index has learned, as charts and as a table of facts: what `elias inspect` prints, and
// docs/inspect.md explains.

import { columnChart, table } from "./charts.js";
import { element } from "./dom.js";
import { factRows } from "./facts.js";
import { counted, grouped, percent } from "./numbers.js";
import { get } from "./requests.js";

export async function indexView(model, signal) {
  const facts = await get(`v1/models/${encodeURIComponent(model.name)}/index`, {}, signal);
  const name = element("span", { class: "name" }, model.name);
  return [
    element("h2", { tabindex: "-1" }, "What ", name, " has learned"),
    element("p", { class: "lead" }, summary(facts)),
    element("div", { class: "charts" }, ...charts(facts)),
    element(
      "section",
      {},
      element("h3", {}, "Facts"),
      table(["Fact", "Value", "What it means"], factRows(facts), "Facts"),
    ),
  ];
}

function summary({ index, neighbours, labels, points, ensemble }) {
  const parts = [`${counted(labels, "label")}, learned from ${counted(points, "text")}.`];
  if (index !== null) {
    const { clusters, edges, labels_with_an_edge: reached } = index;
    const whom = reached === labels ? "all" : grouped(reached);
    parts.push(`${counted(clusters, "cluster")} lead to ${whom} of them, by ${counted(edges, "edge")}.`);
  } else if (neighbours !== null) {
    parts.push("There are no clusters: labels are found along a graph of neighbours.");
  } else {
    parts.push("There are no clusters: every label is scored for every text.");
  }
  if (ensemble !== null) parts.push(`Shown is member ${ensemble.inspected} of ${ensemble.members}.`);
  return parts.join(" ");
}

function charts({ index, cluster_sizes, deciles, test }) {
  const tenths = inOrder(deciles);
  const list = [];
  if (index !== null) {
    list.push(sizesChart(index, cluster_sizes), scoresChart(index), clustersChart(tenths));
  }
  if (test !== undefined) list.push(recallChart(tenths, test));
  return list;
}

// --- histograms ----------------------------------------------------------------------------------

/// `bounds` has one more than `clusters`: a bin begins at its bound and ends before the next.
function sizesChart(index, { bounds, clusters }) {
  const { fewest, mean, most } = index.edges_that_count_per_cluster;
  const every = Math.ceil(clusters.length / 6); // a phone has room for so many numbers
  const range = (from, to) => (from === to ? grouped(from) : `${grouped(from)} to ${grouped(to)}`);
  return columnChart({
    title: "Sizes of clusters",
    reading: `Edges that count, of a cluster: ${mean.toFixed(1)} on average, from ${range(fewest, most)}.`,
    heads: ["Edges that count", "Clusters"],
    columns: clusters.map((number, i) => ({
      name: range(bounds[i], bounds[i + 1] - 1),
      heights: [number],
      texts: [grouped(number)],
    })),
    ticks: bounds.flatMap((bound, i) => (i % every === 0 ? [{ at: i, text: grouped(bound) }] : [])),
  });
}

function scoresChart({ score_histogram: bins, edges, edges_that_count: counting, counts_above: bound }) {
  const from = (i) => i / bins.length;
  return columnChart({
    title: "Scores of edges",
    reading:
      `${grouped(counting)} of ${counted(edges, "edge")} have a score above ${bound}, and count. ` +
      "Where few lie in the middle, the index has made up its mind.",
    heads: ["Score", "Edges"],
    columns: bins.map((number, i) => ({
      name: `${from(i).toFixed(2)} to ${from(i + 1).toFixed(2)}`,
      heights: [number],
      texts: [grouped(number)],
      faint: from(i) < bound,
    })),
    ticks: [0, 0.25, 0.5, 0.75, 1].map((score) => ({ at: score * bins.length, text: String(score) })),
  });
}

// --- from frequent to rare labels ----------------------------------------------------------------

/// Tenths of the labels; those that were never in training come last.
function inOrder(deciles) {
  const place = ({ decile }) => (decile === "unseen" ? Infinity : decile);
  return deciles.filter(({ labels }) => labels > 0).sort((a, b) => place(a) - place(b));
}

function clustersChart(tenths) {
  return tenthsChart(tenths, {
    title: "Clusters a label",
    reading:
      "Edges that count, of a label, by tenths of the labels from frequent to rare. " +
      "A label that stands in texts of many kinds needs more of them.",
    heads: ["Tenth", "Clusters a label", "Labels", "Training texts a label"],
    columnOf: ({ clusters_per_label: mean, labels, train_fewest, train_most }) => ({
      value: mean.toFixed(2),
      heights: [mean],
      texts: [mean.toFixed(2), grouped(labels), `${grouped(train_fewest)} to ${grouped(train_most)}`],
    }),
  });
}

function recallChart(tenths, test) {
  return tenthsChart(tenths, {
    title: "Recall, percent",
    reading:
      `True labels of ${counted(test.points, "test text")} that are among the 10 best (full colour) ` +
      "and among the 100 best (pale), by tenths of the labels from frequent to rare.",
    heads: ["Tenth", "R@10", "R@100", "True labels"],
    columnOf: ({ "R@10": ten, "R@100": hundred, true_pairs }) => ({
      value: (100 * hundred).toFixed(0),
      heights: [hundred, ten],
      texts: [percent(ten), percent(hundred), grouped(true_pairs)],
    }),
  });
}

function tenthsChart(tenths, { columnOf, ...rest }) {
  const tick = ({ decile }, i) => ({ at: i + 0.5, text: decile === "unseen" ? "–" : String(decile) });
  return columnChart({
    ...rest,
    columns: tenths.map((tenth) => ({ name: String(tenth.decile), ...columnOf(tenth) })),
    ticks: tenths.map(tick),
  });
}
