// Why a label has its score, or has none: how the score comes about, the clusters that led to the
// label, and the words that spoke for it and against it. The numbers are those of `elias explain`;
// docs/explain.md has them one by one.

import { written } from "./address.js";
import { signedBar } from "./charts.js";
import { element, link } from "./dom.js";
import { counted, share, signed } from "./numbers.js";
import { pathsFigure } from "./paths.js";

const mostWords = 12; // that have a bar; the marks in the text are of all

const meanings = [
  ["s", "how well a cluster fits the text; the best clusters are searched"],
  ["edge", "how strongly a cluster leads to the label"],
  ["yhat", "the best path to the label, s × edge"],
  ["sigmoid(z)", "what the label's own classifier says of the text"],
  ["p", "the score of the search"],
  ["margin", "the label's bias and what the words add to it"],
  ["q", "the margin on a scale from 0 to 1, the score of the ranker"],
];

export function explanation(label, model) {
  const portrait = written({ view: "label", model: model.name, label: label.label });
  const number = (i) => (label.members.length > 1 ? ` ${i + 1}` : "");
  return [
    element("p", { class: "maths" }, ...scoreFormula(label)),
    ...label.members.map((member, i) => memberSection(member, number(i), model.name)),
    label.ranker === null ? null : rankerSection(label.ranker),
    legend(label),
    element(
      "p",
      { class: "aside" },
      `Learned from ${counted(label.train_points, "text")}. `,
      link(portrait, `All about ${label.label}`),
    ),
  ].filter((part) => part !== null);
}

/// Of the numbers that this kind of model has.
function legend({ members, ranker }) {
  const absent = new Set([
    ...(members[0].paths === undefined ? ["s", "edge", "yhat"] : []),
    ...(ranker === null ? ["margin", "q"] : []),
  ]);
  const entries = meanings
    .filter(([name]) => !absent.has(name))
    .flatMap(([name, meaning]) => [element("dt", {}, name), element("dd", {}, meaning)]);
  return element(
    "details",
    {},
    element("summary", {}, "What the numbers are"),
    element("dl", {}, ...entries),
  );
}

// --- formulas ------------------------------------------------------------------------------------

/// A number over its name.
function term(value, name) {
  return element("span", { class: "term" }, element("b", {}, value), " ", element("small", {}, name));
}

function scoreFormula({ rank, score, p, ranker, fusion, members }) {
  if (rank === null) return ["Not predicted.", ...unusedRanker(ranker)];
  const found = term(share(score), "score");
  const search = term(p === null ? "none" : share(p), "p");
  const parts = ranker?.counts
    ? [found, " = ", ...mixed(ranker.mix, search, term(share(ranker.q), "q"))]
    : [found, ranker === null ? " = " : " from ", search, ...unusedRanker(ranker)];
  if (fusion === undefined) return parts;
  const each = members.map((member, i) => [term(share(member.p), `p of search ${i + 1}`), " "]);
  return [...parts, ` where p is the ${named(fusion)} of `, ...each.flat()];
}

function mixed(mix, p, q) {
  return mix === "product" ? [p, " × ", q] : [`${named(mix)} of `, p, " and ", q];
}

function named(kind) {
  return kind === "learned" ? "learned mix" : kind;
}

function unusedRanker(ranker) {
  if (ranker === null) return [];
  return [" The ranker was not asked. It would say ", term(share(ranker.q), "q, unused")];
}

function searchFormula(member) {
  const opinion = term(share(member.sigmoid_z), "sigmoid(z)");
  if (member.outcome !== "scored") {
    return [`No p: ${whyNone(member)}. Its classifier says `, opinion];
  }
  const parts = [term(share(member.p), "p"), " = ", opinion];
  if (member.yhat === undefined) return parts;
  const exponent = element("sup", {}, term(String(member.gamma), "gamma"));
  const power = element("span", { class: "power" }, term(share(member.yhat), "yhat"), exponent);
  return [...parts, " × ", power];
}

function whyNone({ outcome, yhat, paths }) {
  if (outcome === "cut") return `its yhat of ${share(yhat)} is too low for the shortlist`;
  if (paths === undefined) return "the search did not reach it";
  if (paths.length === 0) return "no cluster leads to it";
  return paths[0].searched ? "its paths have the score 0" : "its clusters are not searched";
}

function marginFormula({ q, margin, bias, words_add, vector_adds }) {
  const sum = term(signed(margin), "margin");
  const parts = [term(share(q), "q"), " for ", sum, " = ", term(signed(bias), "bias")];
  if (words_add !== undefined) parts.push(" ", term(signed(words_add), "words"));
  if (vector_adds !== undefined) parts.push(" ", term(signed(vector_adds), "vector"));
  return parts;
}

// --- what the search says, and the ranker --------------------------------------------------------

function memberSection(member, number, model) {
  return element(
    "section",
    {},
    element("h3", {}, `The search${number}`),
    element("p", { class: "maths" }, ...searchFormula(member)),
    member.paths?.length > 0 ? pathsFigure(member.paths, model) : null,
  );
}

function rankerSection(ranker) {
  const words = ranker.words ?? [];
  return element(
    "section",
    {},
    element("h3", {}, "The ranker"),
    element("p", { class: "maths" }, ...marginFormula(ranker)),
    words.length > 0 ? wordBars(words, ranker.words_add) : null,
  );
}

function wordBars(words, all) {
  const shown = words.slice(0, mostWords);
  const others = all - shown.reduce((sum, word) => sum + word.adds, 0);
  const rows = shown.map((word) => ({ name: termName(word), adds: word.adds }));
  if (Math.abs(others) >= 0.005) rows.push({ name: element("i", {}, "all others"), adds: others });
  const least = Math.min(0, ...rows.map((row) => row.adds));
  const most = Math.max(0, ...rows.map((row) => row.adds));
  return element(
    "table",
    { class: "words" },
    element("caption", { class: "unseen" }, "What words add to the margin, the strongest first"),
    ...rows.map(({ name, adds }) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, name),
        element("td", {}, signedBar(adds, least, most)),
        element("td", { class: "number" }, signed(adds)),
      ),
    ),
  );
}

/// Parts of words keep the space that stands at their edge, as a sign that can be seen.
function termName({ term: name, kind, feature }) {
  if (name === undefined) return `feature ${feature}`;
  if (kind === "word") return name;
  if (kind === "opening") return [`${name} `, element("small", {}, "at the start")];
  return [`${name.replaceAll(" ", "␣")} `, element("small", {}, "part")];
}
