// What a model knows of one label: the clusters that lead to it, each with its company, and the labels
// nearest to it.

import { written } from "./address.js";
import { bar } from "./charts.js";
import { element, joined, link } from "./dom.js";
import { counted, grouped, share } from "./numbers.js";
import { get } from "./requests.js";

/// `text`, if it is not empty, is that of the other view, for which the label can be explained.
export async function portraitView({ label, model, text }, signal) {
  const portrait = await get("v1/label", { name: label, model: model.name }, signal);
  const inText = written({ view: "labels", model: model.name, text, label });
  return [
    element("h2", { class: "name", tabindex: "-1" }, portrait.label),
    element("p", { class: "lead" }, sentence(portrait, model)),
    text.trim() === "" ? null : element("p", {}, link(inText, "Is it a label of your text?")),
    clusters(portrait, model),
    nearest(portrait, model),
  ].filter((part) => part !== null);
}

function sentence({ train_points, decile, threshold, clusters_in_all }, model) {
  const parts = [
    decile === "unseen"
      ? "No text with this label was in training."
      : `${counted(train_points, "training text")}: ${frequency(decile)}.`,
  ];
  if (clusters_in_all !== undefined) {
    const none = "No cluster leads to it: it is never predicted.";
    parts.push(clusters_in_all === 0 ? none : `${counted(clusters_in_all, "cluster")} can lead to it.`);
  }
  if (threshold !== undefined) parts.push(`It is predicted from a score of ${share(threshold)}.`);
  if (model.ensemble > 1) parts.push(`Shown is the first of ${model.ensemble} members.`);
  return parts.join(" ");
}

function frequency(decile) {
  const ends = { 1: "in the most frequent tenth of the labels", 10: "in their rarest tenth" };
  return ends[decile] ?? `in tenth ${decile} of the labels, from frequent to rare`;
}

function labelLink(label, model) {
  return link(written({ view: "label", model: model.name, label }), label);
}

function clusters({ clusters: list, clusters_in_all }, model) {
  if (list === undefined) {
    return element("p", {}, "This model has no clusters, so none leads to the label.");
  }
  if (list.length === 0) return null;
  const rest = clusters_in_all - list.length;
  return element(
    "section",
    {},
    element("h3", {}, "Clusters that lead to it"),
    element(
      "p",
      { class: "aside" },
      "By the score of their edge, with the strongest of their other labels. ",
      "Clusters with different company are different senses of the label.",
    ),
    element("ol", { class: "clusters" }, ...list.map((cluster) => clusterEntry(cluster, model))),
    rest > 0 ? element("p", { class: "aside" }, `and ${counted(rest, "other")} of lower score`) : null,
  );
}

function clusterEntry({ cluster, score, edges, others }, model) {
  const company = others.map((other) => {
    const score = element("small", {}, share(other.score, 2));
    return element("span", {}, labelLink(other.label, model), " ", score);
  });
  return element(
    "li",
    {},
    element("span", { class: "cluster" }, `cluster ${grouped(cluster)}, ${counted(edges, "edge")}`),
    element("span", { class: "number" }, share(score, 3)),
    bar(score),
    element("span", { class: "company" }, ...joined(company, ", ")),
  );
}

function nearest({ nearest: list }, model) {
  if (list.length === 0) return null;
  return element(
    "section",
    {},
    element("h3", {}, "Labels nearest to it"),
    element(
      "p",
      { class: "aside" },
      "By the cosine of their classifiers. Close to 1 it is often the same label under another name.",
    ),
    element(
      "ol",
      { class: "nearest" },
      ...list.map(({ label, cosine }) =>
        element(
          "li",
          {},
          labelLink(label, model),
          element("span", { class: "number" }, cosine.toFixed(3)),
          bar(cosine),
        ),
      ),
    ),
  );
}
