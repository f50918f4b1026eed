// A field that finds labels by a part of their name: a combobox as WAI-ARIA describes it. The focus
// stays in the field; arrow keys go through what was found, Enter chooses, Escape closes.

import { element } from "./dom.js";
import { counted } from "./numbers.js";
import { get, Latest } from "./requests.js";

const pause = 120; // milliseconds without a key, after which the server is asked
const mostFound = 12;

let fields = 0;

/// `chosen` is called with the name of a label.
export function labelSearch({ caption, model, chosen }) {
  return new LabelSearch(caption, model, chosen).whole;
}

class LabelSearch {
  #id = `label-search-${++fields}`;
  #model;
  #chosen;
  #latest = new Latest();
  #waiting;
  #active = -1;
  #field;
  #list;
  #says = element("p", { class: "aside", role: "status" });

  constructor(caption, model, chosen) {
    this.#model = model;
    this.#chosen = chosen;
    this.#field = element("input", {
      id: this.#id,
      type: "text",
      role: "combobox",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      placeholder: "a part of its name",
      "aria-expanded": "false",
      "aria-autocomplete": "list",
      "aria-controls": `${this.#id}-list`,
    });
    this.#list = element("ul", {
      id: `${this.#id}-list`,
      role: "listbox",
      "aria-label": "Labels",
      hidden: true,
    });
    this.#field.addEventListener("input", () => this.#askSoon());
    this.#field.addEventListener("keydown", (event) => this.#press(event));
    this.#field.addEventListener("blur", () => this.#close());
    this.whole = element(
      "div",
      { class: "label-search" },
      element("label", { for: this.#id }, caption),
      element("div", { class: "field" }, this.#field, this.#list),
      this.#says,
    );
  }

  #askSoon() {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#ask(), pause);
  }

  async #ask() {
    const signal = this.#latest.next();
    const q = this.#field.value.trim();
    this.#says.textContent = "";
    if (q === "") return this.#close();
    try {
      const { labels } = await get("v1/labels", { q, limit: mostFound, model: this.#model }, signal);
      if (!signal.aborted) this.#show(labels, q);
    } catch (error) {
      if (!signal.aborted) this.#says.textContent = error.message;
    }
  }

  #show(labels, q) {
    this.#says.textContent = labels.length > 0 ? "" : `No label has “${q}” in its name.`;
    this.#list.replaceChildren(...labels.map((label, i) => this.#option(label, i)));
    this.#open(labels.length > 0);
    this.#activate(labels.length > 0 ? 0 : -1);
  }

  #option({ label, train_points }, i) {
    const option = element(
      "li",
      { role: "option", id: `${this.#id}-${i}`, "aria-selected": "false" },
      element("span", {}, label),
      " ",
      element("small", {}, counted(train_points, "text")),
    );
    option.addEventListener("pointerdown", (event) => event.preventDefault()); // the focus stays
    option.addEventListener("click", () => this.#choose(label));
    return option;
  }

  #press(event) {
    const options = this.#list.children;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && !this.#list.hidden) {
      this.#activate((this.#active + steps[event.key] + options.length) % options.length);
    } else if (event.key === "Enter" && !this.#list.hidden) {
      options[this.#active].click();
    } else if (event.key === "Escape" && !this.#list.hidden) {
      this.#close();
    } else {
      return;
    }
    event.preventDefault();
  }

  #activate(i) {
    this.#list.children[this.#active]?.setAttribute("aria-selected", "false");
    this.#active = i;
    if (i < 0) return this.#field.removeAttribute("aria-activedescendant");
    const option = this.#list.children[i];
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.#field.setAttribute("aria-activedescendant", option.id);
  }

  #open(open) {
    this.#list.hidden = !open;
    this.#field.setAttribute("aria-expanded", String(open));
  }

  #close() {
    clearTimeout(this.#waiting);
    this.#latest.next();
    this.#open(false);
    this.#activate(-1);
  }

  #choose(label) {
    this.#field.value = "";
    this.#close();
    this.#chosen(label);
  }
}
