// The address of what is on the page, which is all of its state that a link should carry: the part
// behind the #. A text that is too long for an address is kept by the browser's tab alone.

const longestText = 2000;
const keptText = "elias-text";
const views = ["labels", "index", "label"];

/// What the address bar says. `text` is undefined where the address says nothing of it.
export function read(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const given = new URLSearchParams(query);
  return {
    view: views.includes(path) ? path : "labels",
    model: given.get("model") ?? undefined,
    text: given.get("text") ?? sessionStorage.getItem(keptText) ?? undefined,
    label: given.get("label") ?? undefined,
    k: given.get("k") ?? undefined,
    threshold: given.get("threshold") ?? undefined,
  };
}

export function written({ view, ...rest }) {
  const query = new URLSearchParams();
  for (const name of ["model", "label", "k", "threshold", "text"]) {
    if (rest[name] === undefined || (name === "text" && !fits(rest.text))) continue;
    query.set(name, rest[name]);
  }
  return `#/${view}?${query}`;
}

export function fits(text) {
  return text.length <= longestText;
}

/// Puts the address into the bar without a step in the history.
export function replace(address) {
  if (fits(address.text ?? "")) sessionStorage.removeItem(keptText);
  else sessionStorage.setItem(keptText, address.text);
  history.replaceState(null, "", written(address));
}
