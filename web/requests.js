// Questions to the server, by addresses relative to the page's own, so that it also works behind a
// proxy that serves it below a folder. Where the server wants a bearer token, people are asked for
// it once; the tab keeps it until it is closed.

import { element } from "./dom.js";

const keptToken = "elias-token";
const secondsToReturn = 3; // of a server that does not answer, until it is asked again

/// An answer that is none: the server's sentence, and after how many seconds to ask again, if that
/// may help.
export class Refusal extends Error {
  constructor(message, retryAfter) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/// Gives a signal to each of a row of questions and takes it back with the next, so that a late
/// answer to an old question is never shown.
export class Latest {
  #controller = new AbortController();

  next() {
    this.#controller.abort();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }
}

export function predict(body, signal) {
  return ask("v1/predict", {
    signal,
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

export function get(path, parameters = {}, signal = undefined) {
  const query = String(new URLSearchParams(parameters));
  return ask(query === "" ? path : `${path}?${query}`, { signal });
}

async function ask(path, options) {
  const token = sessionStorage.getItem(keptToken);
  const answer = await fetched(path, options, token);
  if (answer.status === 401) {
    await askForToken(token);
    options.signal?.throwIfAborted();
    return ask(path, options);
  }
  if (answer.ok) return answer.json();
  const seconds = Number(answer.headers.get("Retry-After"));
  throw new Refusal(await sentenceOf(answer), seconds > 0 ? seconds : undefined);
}

async function fetched(path, options, token) {
  const headers = { ...options.headers };
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  try {
    return await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer. Is it still running?", secondsToReturn);
  }
}

async function sentenceOf(answer) {
  const { error } = await answer.json().catch(() => ({}));
  if (!error) return `The server answered with the status ${answer.status}.`;
  return `The server says: ${error}.`;
}

// --- the token -----------------------------------------------------------------------------------

let asked = null; // the one dialog, as long as it is open

/// `refused` is the token that the server did not take, if there was one.
function askForToken(refused) {
  if (sessionStorage.getItem(keptToken) !== refused) return Promise.resolve(); // it is there by now
  asked ??= tokenDialog(refused).finally(() => (asked = null));
  return asked;
}

function tokenDialog(refused) {
  const field = element("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const form = element(
    "form",
    {},
    element("h2", { id: "token-title" }, "This server wants a token"),
    element("p", {}, refused === null ? "Whoever runs it has one." : "It did not take that one."),
    element("label", { for: "token" }, "Token"),
    field,
    element("button", {}, "Go on"),
  );
  const dialog = element("dialog", { "aria-labelledby": "token-title" }, form);
  document.body.append(dialog);
  dialog.addEventListener("cancel", (event) => event.preventDefault()); // nothing works without it
  dialog.showModal();
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      sessionStorage.setItem(keptToken, field.value.trim());
      dialog.remove();
      resolve();
    });
  });
}
