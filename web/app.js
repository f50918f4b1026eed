// The page of a server: which view is shown follows from the address, and from nothing else.

import { read, written } from "./address.js";
import { element } from "./dom.js";
import { indexView } from "./index_view.js";
import { labelSearch } from "./label_search.js";
import { LabelsView } from "./labels_view.js";
import { portraitView } from "./portrait_view.js";
import { get, Latest } from "./requests.js";

const at = (id) => document.getElementById(id);
const labelsView = new LabelsView(tell);
const latest = new Latest();
const titles = { labels: "Labels", index: "Index" };
let models = [];

function tell(sentence) {
  at("trouble").textContent = sentence;
  at("trouble").hidden = sentence === "";
}

async function show() {
  const signal = latest.next();
  const address = read();
  tell("");
  const { model: wanted = models[0].name } = address;
  const model = models.find(({ name }) => name === wanted);
  if (model === undefined) return tell(`There is no model “${wanted}” here. There is: ${names()}.`);
  showModels(model);
  showLinks(address, model);
  at("labels-view").hidden = address.view !== "labels";
  at("other-view").hidden = address.view === "labels";
  document.title = `${titles[address.view] ?? address.label} – Elias`;
  if (address.view === "labels") return labelsView.show(address, model);
  await showOther(address, model, signal);
}

function names() {
  return models.map(({ name }) => name).join(", ");
}

async function showOther({ view, label }, model, signal) {
  const text = labelsView.address.text;
  const portraitOf = (name) => written({ view: "label", model: model.name, label: name });
  const chosen = (name) => (location.hash = portraitOf(name));
  const search = labelSearch({ caption: "Find a label", model: model.name, chosen });
  at("other-view").replaceChildren(search);
  try {
    const parts =
      view === "index"
        ? await indexView(model, signal)
        : await portraitView({ label, model, text }, signal);
    if (signal.aborted) return;
    at("other-view").replaceChildren(search, ...parts);
    at("other-view").querySelector("h2").focus();
    scrollTo(0, 0);
  } catch (error) {
    if (!signal.aborted) tell(error.message);
  }
}

function showModels(model) {
  at("models").hidden = models.length < 2;
  const option = ({ name }) => element("option", { selected: name === model.name }, name);
  at("model").replaceChildren(...models.map(option));
}

function showLinks({ view }, model) {
  at("to-labels").href = written({ ...labelsView.address, model: model.name });
  at("to-index").href = written({ view: "index", model: model.name });
  for (const name of ["labels", "index"]) {
    at(`to-${name}`).setAttribute("aria-current", name === view ? "page" : "false");
  }
}

async function start() {
  try {
    ({ models } = await get("v1/models"));
    await show();
  } catch (error) {
    tell(error.message);
  }
}

at("model").addEventListener("change", () => {
  const here = read();
  const typed = here.view === "labels" ? labelsView.address : here;
  location.hash = written({ ...typed, model: at("model").value });
});
addEventListener("hashchange", show);
await start();
