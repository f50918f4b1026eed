// The field for the text. Behind it lies a copy of the same text in the same letters: it makes the
// field as high as its text, and marks the words that spoke for a label. Screen readers have the list
// of words for that, and do not see the copy.

import { element } from "./dom.js";
import { highlighted } from "./highlights.js";

export class TextField {
  #field;
  #copy;
  #words = [];

  constructor(field, copy) {
    this.#field = field;
    this.#copy = copy;
    field.addEventListener("input", () => this.#draw());
  }

  get text() {
    return this.#field.value;
  }

  set text(text) {
    if (text !== this.#field.value) this.#field.value = text;
    this.#draw();
  }

  /// Those of an explanation's ranker.
  mark(words) {
    this.#words = words;
    this.#draw();
  }

  #draw() {
    const pieces = highlighted(this.text, this.#words).map(({ text, level, adds }) =>
      level === 0 ? text : element("mark", { class: `${adds < 0 ? "against" : "for"}-${level}` }, text),
    );
    this.#copy.replaceChildren(...pieces, "\n"); // the line on which the next letter may come
  }
}
