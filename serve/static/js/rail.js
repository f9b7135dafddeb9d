// What an answer rests on: a card for each place, beside its sentence where there is room, else below the answer.

import { chip, placeKey, thumbnail, where } from "./cite.js";
import { computedBlock } from "./computed.js";
import { fill, h, svg } from "./dom.js";
import { t } from "./i18n.js";
import { icon, iconOf } from "./icons.js";
import { withFormulas } from "./maths.js";
import { openCitation } from "./panel.js";
import { plain, titleOf } from "./words.js";

const GAP = 8; // pixels between two cards
const GUTTER = 26; // pixels between the text and its cards
const [LINE, CHIP] = [12, 20]; // pixels from the top of a sentence to the middle of its first line, and of a card to its number

/**
 * The cards of an answer.
 * @param {object[]} citations what is cited; what stands at the same place shares a card
 * @param {HTMLElement} answer the element that holds the sentences; hover or focus of either marks both
 */
export function rail(citations, answer) {
  if (!citations.length) return null;
  const places = new Map();
  for (const c of citations) {
    const key = placeKey(c);
    places.set(key, [...(places.get(key) || []), c]);
  }
  const cards = [...places.values()].map(card);
  const list = h("ol", {}, ...cards);
  const lines = svg("svg", { class: "ties", width: GUTTER, "aria-hidden": "true" });
  const section = h("section.sources", { "aria-label": t("sources") }, lines, list);
  tie(answer, cards, lines);
  let reply = null;
  const sized = new ResizeObserver(() => {
    if (!section.isConnected) return;
    if (reply !== section.parentElement.parentElement) {
      reply = section.parentElement.parentElement;
      for (const part of reply.children) sized.observe(part); // what unfolds above moves the answer
    }
    beside(section, list, cards, answer, lines);
  });
  // A card grows by its picture and an answer by late strips; neither changes the height of the list.
  for (const part of [answer, list, ...cards]) sized.observe(part);
  return section;
}

/** What was found before anything is written of it: places that open, in a line. */
export function found(places) {
  const items = places.map((place) => {
    const open = h("button.button.small", { type: "button", title: where(place) }, icon(iconOf(place.open?.view || place.locator.kind)), h("span", { text: titleOf(place), dir: "auto" }));
    open.addEventListener("click", () => openCitation({ n: null, ...place }, open));
    return h("li", {}, open);
  });
  return h("section.further", { "aria-label": t("sources.found") }, h("h3", { text: t("sources.found") }), h("ul", { role: "list" }, ...items));
}

function card(citations) {
  const [first] = citations;
  const words = h(
    "button.words",
    { type: "button" },
    h("span.title", { text: titleOf(first), dir: "auto" }),
    h("span.place.fine", {}, icon(iconOf(first.open?.view || first.locator.kind)), h("span", { text: where(first), dir: "auto" })),
    h("span.quote", { dir: "auto" }, ...withFormulas(plain(citations.map((c) => c.quote).filter(Boolean).join(" … ")))),
    thumbnail(first),
  );
  words.addEventListener("click", () => openCitation(first, words));
  const made = h("li.source", {}, h("span.ns", {}, chip(first)), words, ...citations.map(computedBlock));
  made.dataset.ns = citations.map((c) => c.n).join(" ");
  return made;
}

const numbers = (element) => element.dataset.ns.split(" ").filter(Boolean);
const sentences = (answer) => [...answer.querySelectorAll(".sentence")].filter((s) => s.dataset.ns);
const meet = (one, other) => numbers(one).some((n) => numbers(other).includes(n));

/** Mark a sentence with its cards and a card with its sentences, and the lines between them, under the mouse and under the focus. */
function tie(answer, cards, lines) {
  const watch = (from, others) => {
    const set = (is) => {
      for (const other of [from, ...others().filter((one) => meet(one, from))]) other.classList.toggle("tied", is);
      for (const line of lines.children) line.classList.toggle("tied", is && line.ends.includes(from));
    };
    for (const event of ["pointerenter", "focusin"]) from.addEventListener(event, () => set(true));
    for (const event of ["pointerleave", "focusout"]) from.addEventListener(event, () => set(false));
    // Whoever goes by the keys sees the other end as well.
    from.addEventListener("focusin", ({ target }) => target.matches(":focus-visible") && others().find((one) => meet(one, from))?.scrollIntoView({ block: "nearest" }));
  };
  for (const one of cards) watch(one, () => sentences(answer));
  for (const one of sentences(answer)) watch(one, () => cards);
}

/** Lay each card at the height of the first sentence that cites it, none over another, and draw a line from each sentence to its cards. */
function beside(section, list, cards, answer, lines) {
  const reply = section.parentElement.parentElement;
  const room = getComputedStyle(section).position === "absolute";
  section.classList.toggle("beside", room);
  reply.style.minHeight = "";
  fill(lines);
  if (!room) {
    for (const one of cards) one.style.top = "";
    list.style.height = "";
    return;
  }
  section.style.top = `${answer.offsetTop}px`;
  const from = answer.getBoundingClientRect().top;
  const said = sentences(answer).map((one) => ({ one, top: one.getClientRects()[0].top - from }));
  const wanted = (card) => said.find(({ one }) => meet(one, card))?.top ?? 0;
  let free = 0;
  for (const [one, at] of cards.map((c) => [c, wanted(c)]).sort((a, b) => a[1] - b[1])) {
    const top = Math.max(free, at);
    one.style.top = `${top}px`;
    free = top + one.offsetHeight + GAP;
    for (const { one: sentence, top: y } of said.filter((s) => meet(s.one, one))) lines.append(line(sentence, one, y + LINE, top + CHIP));
  }
  list.style.height = `${free}px`;
  reply.style.minHeight = `${answer.offsetTop + free}px`;
}

/** A line through the gutter, in the state of its sentence. */
function line(sentence, card, y1, y2) {
  const drawn = svg("path", { d: `M0 ${y1}C${GUTTER * 0.6} ${y1} ${GUTTER * 0.4} ${y2} ${GUTTER} ${y2}` });
  drawn.classList.add(...["verified", "follows", "computed", "disputed", "unverified", "contradicted", "model"].filter((state) => sentence.classList.contains(state)));
  drawn.ends = [sentence, card];
  return drawn;
}
