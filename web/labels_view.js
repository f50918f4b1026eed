// The view in which labels appear as a text is typed. All that it shows follows from its address:
// typing, choosing a label and the controls change the address, and whoever opens it sees the same.

import { fits, replace, written } from "./address.js";
import { explanation } from "./explanation.js";
import { LabelList } from "./label_list.js";
import { labelSearch } from "./label_search.js";
import { counted, grouped, share } from "./numbers.js";
import { Latest, predict } from "./requests.js";
import { TextField } from "./text_field.js";

const pauseToAsk = 150; // milliseconds without a key
const pauseToKeep = 500; // browsers bound how often an address may change
const wordsToMark = 32;

const at = (id) => document.getElementById(id);

/// A question is asked when it differs from the one before; its answer is kept until the next comes.
class Question {
  #asked = "";
  #latest = new Latest();
  answer = null;

  /// `body` is null where there is nothing to ask. Gives false where nothing changed.
  async ask(body) {
    const asked = JSON.stringify(body);
    if (asked === this.#asked) return false;
    this.#asked = asked;
    const signal = this.#latest.next();
    try {
      const answer = body === null ? null : (await predict(body, signal)).predictions[0].labels;
      if (signal.aborted) return false;
      this.answer = answer;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#asked = "";
      this.answer = null;
      throw error;
    }
  }
}

export class LabelsView {
  #address = { view: "labels", text: "" };
  #model;
  #tell;
  #text = new TextField(at("text"), at("text-copy"));
  #list = new LabelList(at("answer-labels"), (label) => this.#follow(label));
  #labels = new Question();
  #reason = new Question();
  #waiting = {};
  #awaited; // the label to go to when it is explained

  /// `tell` shows people a sentence, or with "" none.
  constructor(tell) {
    this.#tell = tell;
    at("text").addEventListener("input", () => this.#typed());
    at("text").addEventListener("change", () => this.#keep());
    at("choices").addEventListener("input", () => this.#chose());
  }

  get address() {
    return this.#address;
  }

  show(address, model) {
    if (this.#model !== model) this.#useModel(model);
    this.#address = { ...address, text: address.text ?? this.#text.text };
    this.#text.text = this.#address.text;
    this.#setControls();
    this.#ask();
  }

  #useModel(model) {
    this.#model = model;
    at("threshold-kind").options[1].disabled = !model.threshold;
    const caption = "Why not another label?";
    const chosen = (label) => this.#askFor(label);
    at("why-not").replaceChildren(labelSearch({ caption, model: model.name, chosen }));
  }

  // --- what people do ----------------------------------------------------------------------------

  #typed() {
    this.#address.text = this.#text.text;
    this.#awaited = undefined;
    this.#after("ask", pauseToAsk, () => this.#ask());
    this.#after("keep", pauseToKeep, () => this.#keep());
  }

  #keep() {
    clearTimeout(this.#waiting.keep);
    if (!at("labels-view").hidden) replace(this.#address);
  }

  #follow(label) {
    this.#keep();
    location.hash = this.#hrefOf(label);
  }

  /// Opens a label and goes to it, as it may lie far from where it was asked for.
  #askFor(label) {
    if (label === this.#address.label) return this.#list.focus(label);
    this.#awaited = label;
    this.#keep();
    location.hash = written({ ...this.#address, label });
  }

  #chose() {
    at("threshold").hidden = at("threshold-kind").value !== "least";
    for (const field of [at("k"), at("threshold")]) {
      const { badInput, valueMissing, rangeUnderflow, rangeOverflow } = field.validity;
      if (field.hidden || !(badInput || valueMissing || rangeUnderflow || rangeOverflow)) continue;
      const name = document.querySelector(`label[for=${field.id}]`)?.textContent ?? field.ariaLabel;
      return this.#tell(`“${name}” takes a number from ${field.min} to ${field.max}.`);
    }
    this.#address.k = at("k").value;
    const thresholds = { any: undefined, own: "auto", least: at("threshold").value };
    this.#address.threshold = thresholds[at("threshold-kind").value];
    this.#keep();
    this.#ask();
  }

  #setControls() {
    const { k = "5", threshold } = this.#address;
    at("k").value = k;
    at("threshold-kind").value = { undefined: "any", auto: "own" }[threshold] ?? "least";
    at("threshold").hidden = at("threshold-kind").value !== "least";
    if (!at("threshold").hidden) at("threshold").value = threshold;
  }

  /// Does it once after a pause, however often it is called before that.
  #after(name, milliseconds, action) {
    clearTimeout(this.#waiting[name]);
    this.#waiting[name] = setTimeout(action, milliseconds);
  }

  // --- what the server says ----------------------------------------------------------------------

  async #ask() {
    clearTimeout(this.#waiting.ask);
    at("text-note").hidden = fits(this.#address.text);
    at("why-not").hidden = this.#address.text.trim() === "";
    const { text, label, k = "5", threshold } = this.#address;
    const question = text.trim() === "" ? null : { text, model: this.#model.name };
    const least = threshold === undefined || threshold === "auto" ? threshold : Number(threshold);
    const why = label === undefined ? null : { explain: [label], words: wordsToMark };
    const ask = async (about, body) => (await about.ask(body)) && this.#render();
    const answers = await Promise.allSettled([
      ask(this.#labels, question && { ...question, k: Number(k), threshold: least }),
      ask(this.#reason, question && why && { ...question, ...why }),
    ]);
    if (at("labels-view").hidden) return; // it will be asked again
    const refused = answers.find(({ status }) => status === "rejected")?.reason;
    if (refused !== undefined) this.#render();
    this.#tell(refused?.message ?? "");
    const seconds = refused?.retryAfter;
    if (seconds !== undefined) this.#after("ask", 1000 * seconds, () => this.#ask());
  }

  #render() {
    const labels = (this.#labels.answer ?? []).map((label, i) => ({ ...label, rank: i + 1 }));
    const reason = this.#reason.answer?.[0] ?? null;
    const shown = labels.map(({ label, score, rank }) => this.#entry(label, rank, score, reason));
    if (reason !== null && !labels.some(({ label }) => label === reason.label)) {
      shown.push(this.#entry(reason.label, reason.rank, reason.score, reason));
    }
    this.#list.show(shown);
    at("answer-says").textContent = this.#summary(labels);
    this.#mark(reason?.ranker?.words ?? [], reason?.label);
    if (reason === null || reason.label !== this.#awaited) return;
    this.#awaited = undefined;
    this.#list.focus(reason.label);
  }

  #entry(label, rank, score, reason) {
    const why = reason?.label === label ? explanation(reason, this.#model) : null;
    return { label, rank, score, why, href: this.#hrefOf(label) };
  }

  /// The link of a label that is open closes it.
  #hrefOf(label) {
    return written({ ...this.#address, label: label === this.#address.label ? undefined : label });
  }

  #summary(labels) {
    const known = this.#model.labels;
    if (this.#labels.answer === null) {
      return `${counted(known, "label")}, learned from ${counted(this.#model.points, "text")}.`;
    }
    if (labels.length === 0) return "No label has so high a score.";
    const best = `${labels[0].label}, ${share(labels[0].score)}`;
    return `${counted(labels.length, "label")} of ${grouped(known)}; the best is ${best}.`;
  }

  #mark(words, label) {
    this.#text.mark(words);
    at("text-marks").hidden = words.length === 0;
    at("text-marks-label").textContent = label ?? "";
  }
}
