// Where in a text the words stand that the ranker read, and how much each adds. Features are cut
// from a text as docs/text.md says: runs of word characters, and parts of what white space separates.
// What a feature adds is spread over the places where it is found, and summed up by runs, so that
// whole words are marked.

const levels = [0.08, 0.25, 0.5, 0.75]; // shares of the strongest run, from which on a mark is darker

/// The text in pieces: {text, level, adds}; the level is 0 where nothing is marked, else 1 to 4.
export function highlighted(text, words) {
  if (words.length === 0) return [plain(text)];
  const adds = addedByPlace(text, words);
  const runs = [...text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)].map(({ 0: run, index }) => {
    const end = index + run.length;
    return { start: index, end, adds: sum(adds.subarray(index, end)) };
  });
  const strongest = runs.reduce((most, run) => Math.max(most, Math.abs(run.adds)), 0);
  const pieces = [];
  let at = 0;
  for (const { start, end, adds: added } of runs) {
    const level = levels.filter((least) => Math.abs(added) > least * strongest).length;
    if (level === 0) continue;
    pieces.push(plain(text.slice(at, start)), { text: text.slice(start, end), level, adds: added });
    at = end;
  }
  return [...pieces, plain(text.slice(at))];
}

function plain(text) {
  return { text, level: 0, adds: 0 };
}

function addedByPlace(text, words) {
  const adds = new Float64Array(text.length);
  const lower = lowered(text);
  const cut = {
    words: [...lower.matchAll(/[\p{L}\p{N}_]{2,}/gu)],
    chunks: [...lower.matchAll(/\S+/gu)],
  };
  for (const word of words) {
    const places = placesOf(word, cut);
    const length = sum(places.map(({ start, end }) => end - start));
    for (const { start, end } of places) {
      for (let i = start; i < end; ++i) adds[i] += word.adds / length;
    }
  }
  return adds;
}

/// Letter by letter, so that every place stays where it is.
function lowered(text) {
  const lower = (sign) => (sign.toLowerCase().length === sign.length ? sign.toLowerCase() : sign);
  return [...text].map(lower).join("");
}

function placesOf({ term, kind }, { words, chunks }) {
  if (term === undefined) return []; // a feature without a name
  if (kind === "characters") return partsOf(chunks, term);
  const found = sequencesOf(words, term.split(" "));
  return kind === "opening" ? found.slice(0, 1) : found;
}

/// A part of a word may begin or end with the space that stands on either side of it.
function partsOf(chunks, term) {
  const part = term.trim();
  const places = [];
  for (const { 0: chunk, index } of chunks) {
    const padded = ` ${chunk} `;
    for (let at = padded.indexOf(term); at >= 0; at = padded.indexOf(term, at + 1)) {
      const start = index - 1 + at + term.indexOf(part);
      places.push({ start, end: start + part.length });
    }
  }
  return places;
}

function sequencesOf(words, names) {
  const places = [];
  for (let i = 0; i + names.length <= words.length; ++i) {
    if (names.some((name, j) => words[i + j][0] !== name)) continue;
    const last = words[i + names.length - 1];
    places.push({ start: words[i].index, end: last.index + last[0].length });
  }
  return places;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
