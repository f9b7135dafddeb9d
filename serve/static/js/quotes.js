// Quotes in place of an answer: a card for each passage, its best sentence marked; no language model read them.

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
const CELLS = /(?:^|(?<=\s))\|(?=\s|$)/;
const GAP = "…";
const GAPS = /(?:^|\s)…(?=\s|$)/;

/** Whether a note of a run says what stands above the quotes. */
export const saysUnread = (note) => /^No language model read these passages/.test(note);

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
    h("blockquote", { dir: "auto" }, ...blocks(text, marked || [0, 0])),
  );
  made.dataset.ns = citation.n;
  return made;
}

/** The paragraphs and tables of a quote. */
function blocks(text, marked) {
  // The server counts characters, and this language their halves.
  const [low, high] = marked.map((n) => Array.from(text).slice(0, n).join("").length);
  let at = 0;
  const lines = text.split("\n").map((line) => {
    at += line.length + 1;
    return { line, start: at - line.length - 1, row: ROW.test(line) };
  });
  const groups = [];
  for (const [n, one] of lines.entries()) {
    // What was left out between two rows is a row as well.
    const table = one.row || (one.line === GAP && !!lines[n - 1]?.row && !!lines[n + 1]?.row);
    if (groups.at(-1)?.table !== table) groups.push({ table, lines: [] });
    groups.at(-1).lines.push(one);
  }
  return groups.flatMap(({ table, lines: of }) => (table ? [tableOf(of, low, high)] : paragraphs(text, of[0].start, of.at(-1).start + of.at(-1).line.length, low, high)));
}

/** A paragraph for each stretch between what was left out. */
function paragraphs(text, start, end, low, high) {
  let at = start;
  return text.slice(start, end).split(GAPS).flatMap((said, n) => {
    const from = n ? (at = text.indexOf(GAP, at) + 1) : at;
    at = from + said.length;
    const cut = (place) => Math.min(Math.max(place - from, 0), said.length);
    const [a, b] = [cut(low), cut(high)];
    const parts = [...withFormulas(said.slice(0, a)), b > a && h("mark", {}, ...withFormulas(said.slice(a, b))), ...withFormulas(said.slice(b))];
    return said.trim() ? [h("p", {}, n ? `${GAP} ` : null, ...parts)] : [];
  });
}

function tableOf(lines, low, high) {
  const rows = lines.map(({ line, start }) => ({ cells: line.split(CELLS).map((cell) => cell.trim()), best: low < start + line.length && start < high }));
  const [first, second] = rows;
  const heads = second && first.cells.length === second.cells.length && !first.best && !/\d/.test(first.cells.join(""));
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  const cellOf = (text, best, head, alone) => h(head ? "th" : "td", { scope: head ? "col" : null, colspan: alone ? width : null }, ...(best && text ? [h("mark", {}, ...withFormulas(text))] : withFormulas(text)));
  const made = rows.map(({ cells, best }, n) => h("tr", {}, ...cells.map((text) => cellOf(text, best, heads && n === 0, cells.length === 1 && width > 1))));
  return h("div.wide", {}, h("table", {}, ...made));
}
