// The facts of a model, each with what it means: rows of a table.

import { counted, grouped, percent, share } from "./numbers.js";

const methods = {
  elias: "search, then rank",
  ova: "score all labels",
  glas: "find the nearest labels",
};

export function factRows(facts) {
  return [
    ["method", facts.method, methods[facts.method]],
    ["labels", grouped(facts.labels), "that it can name"],
    ["training texts", grouped(facts.points), "that it learned from"],
    ["features", grouped(facts.features), "words and parts of words that it knows"],
    ["encoder", facts.encoder.kind, "what makes a vector of a text"],
    ["width", grouped(facts.width), "numbers in that vector"],
    ["classifiers", facts.classifiers, "how their weights are stored"],
    ...indexRows(facts.index),
    ...neighbourRows(facts.neighbours),
    ...rankerRows(facts.ranker),
    ...ensembleRows(facts.ensemble),
    ...thresholdRows(facts.threshold),
    ...testRows(facts.test),
  ];
}

function indexRows(index) {
  if (index === null) return [];
  const { search, counts_above: bound } = index;
  const kept = index.stage1_kept?.find(({ score_above }) => score_above === bound);
  const rows = [
    ["clusters", grouped(index.clusters), "groups of labels, with which a text is compared first"],
    ["edges", grouped(index.edges), "from clusters to labels"],
    ["edges that count", grouped(index.edges_that_count), `those with a score above ${bound}`],
    ["labels with an edge", grouped(index.labels_with_an_edge), "the others are never predicted"],
    ["beam", grouped(search.beam), "clusters that are searched for a text"],
    ["shortlist", grouped(search.shortlist), "labels with the best paths, which are scored"],
    ["alpha", String(search.alpha), "how soon a cluster fits a text fully"],
    ["gamma", String(search.gamma), "how much the path weighs in a score"],
  ];
  if (kept === undefined) return rows;
  const meaning = "labels whose edge from the cluster they began in still counts";
  return [...rows, ["first clustering", percent(kept.share), meaning]];
}

function neighbourRows(neighbours) {
  if (neighbours === null) return [];
  return [["neighbours", grouped(neighbours.links), "links of a label in the graph, at most"]];
}

function rankerRows(ranker) {
  if (ranker === null) return [["ranker", "none", "scores are those of the search"]];
  return [
    ["ranker", grouped(ranker.weights), `weights, on ${ranker.input}`],
    ["ranked", grouped(ranker.top), "labels of the search that it puts in order"],
    ["mix", ranker.mix, "of the scores of search and ranker"],
  ];
}

function ensembleRows(ensemble) {
  if (ensemble === null) return [];
  return [["ensemble", grouped(ensemble.members), `models as one, by ${ensemble.fusion}`]];
}

function thresholdRows(threshold) {
  if (threshold === null) return [];
  const { for: aim, share: least, common, labels_with_their_own: own } = threshold;
  const goal = least === undefined ? aim : `${aim} ${least}`;
  return [["threshold", share(common), `chosen for ${goal}; ${counted(own, "label")} with their own`]];
}

function testRows(test) {
  if (test === undefined) return [];
  const names = ["P@1", "P@5", "R@10", "R@100"];
  return names.map((name) => [name, percent(test[name]), `on ${counted(test.points, "test text")}`]);
}
