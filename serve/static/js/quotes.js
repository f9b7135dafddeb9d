// Quotes in place of an answer: a card for each passage, the words that match highlighted; no language model read them.

import { chip, thumbnail, where } from "./cite.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";
import { icon, iconOf } from "./icons.js";
import { withFormulas } from "./maths.js";
import { openModels } from "./models.js";
import { openCitation } from "./panel.js";
import { state } from "./state.js";
import { titleOf } from "./words.js";

const ROW = /(?:^|\s)\|(?=\s|$)/;
const SHORT = 24; // characters of a cell that stays in one line: a date, an amount, a name
const BAR = /(?:^|(?<=\s))\|(?=\s|$)/g;

/** Put a quote after those before it, and what they are above the first. */
export function layQuote(answer, quote, [citation]) {
  let list = answer.lastChild;
  if (!list?.matches?.("ul.quotes")) {
    list = h("ul.quotes", { role: "list", "aria-label": t("quotes") });
    answer.append(unread(t("quotes.unread")), list);
  }
  list.append(card(quote, citation));
}

/** Say what there is without a language model, beside the way to one. */
export function unread(text) {
  const models = state.me?.may_change && h("button.button.small", { type: "button", "aria-haspopup": "dialog", text: t(state.me.chat ? "models" : "quotes.setup"), on: { click: openModels } });
  return h("div.unread", {}, icon("info"), h("span", { text }), models);
}

function card({ text, marked }, citation) {
  const { view } = citation.open || {};
  const open = h(
    "button.words",
    { type: "button" },
    h("span.title", { text: titleOf(citation), dir: "auto" }),
    h("span.place.fine", {}, icon(iconOf(view || citation.locator.kind)), h("span", { text: where(citation), dir: "auto" })),
  );
  open.addEventListener("click", () => openCitation(citation, open));
  const seen = ["picture", "video"].includes(view) && thumbnail(citation);
  const made = h(
    "li.quotation",
    {},
    h("div.quotation-head", {}, chip(citation), h("h3", {}, open), h("span.sign.fine", { text: t("state.quoted"), title: t("state.quoted.means") })),
    seen,
    h("blockquote", { dir: "auto" }, ...blocks(text, marked || [])),
  );
  made.dataset.ns = citation.n;
  return made;
}

/** The paragraphs and tables of a quote, the words that match highlighted. */
function blocks(text, marked) {
  const marks = inHalves(text, marked);
  const made = [];
  let held = null;
  for (const found of text.matchAll(/[^\n]*\S[^\n]*/g)) {
    const line = { start: found.index, end: found.index + found[0].length };
    const table = ROW.test(found[0]);
    const parted = held && text.slice(held.lines.at(-1).end, line.start).split("\n").length > 2;
    if (!held || held.table !== table || (parted && !table)) made.push((held = { table, lines: [] }));
    held.lines.push(line);
  }
  return made.map(({ table, lines }) => (table ? tableOf(text, lines, marks) : h("p", {}, ...highlighted(text, lines[0].start, lines.at(-1).end, marks))));
}

/** The server counts characters, and this language their halves. */
function inHalves(text, marked) {
  const starts = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  starts.push(at);
  return marked.map(([start, end]) => [starts[start] ?? at, starts[end] ?? at]);
}

/** A stretch of a text, what is marked in it apart. */
function highlighted(text, start, end, marks) {
  const parts = [];
  let at = start;
  for (const [low, high] of marks) {
    if (high <= start || end <= low) continue;
    const [a, b] = [Math.max(low, at), Math.min(high, end)];
    parts.push(...withFormulas(text.slice(at, a)), h("mark", { text: text.slice(a, b) }));
    at = b;
  }
  return [...parts, ...withFormulas(text.slice(at, end))];
}

function tableOf(text, lines, marks) {
  const rows = lines.map((line) => cellsOf(text, line));
  const [first, second] = rows;
  const named = second && first.length === second.length && !first.some(({ start, end }) => /\d/.test(text.slice(start, end)));
  const cell = (name, { start, end }) => h(end - start > SHORT ? name : `${name}.short`, { scope: name === "th" ? "col" : null }, ...highlighted(text, start, end, marks));
  const made = rows.map((cells, n) => h("tr", {}, ...cells.map((one) => cell(named && n === 0 ? "th" : "td", one))));
  return h("div.wide", { tabindex: "0", role: "group", "aria-label": t("quotes.table") }, h("table", {}, ...made));
}

/** Where the cells of a row stand in a text. */
function cellsOf(text, { start, end }) {
  const cells = [];
  let at = start;
  for (const bar of [...text.slice(start, end).matchAll(BAR).map(({ index, 0: found }) => start + index + found.length - 1), end]) {
    cells.push({ start: at, end: bar });
    at = bar + 1;
  }
  return cells;
}
