// What an answer rests on: a card for each place, beside its sentence where there is room, else below the answer.

import { chip, thumbnail, where } from "./cite.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";
import { icon, iconOf } from "./icons.js";
import { openCitation } from "./panel.js";
import { titleOf } from "./words.js";

const GAP = 8; // pixels between two cards

/**
 * The cards of an answer.
 * @param {object[]} citations what is cited; what stands at the same place shares a card
 * @param {HTMLElement} answer the element that holds the sentences; hover or focus of either marks both
 */
export function rail(citations, answer) {
  if (!citations.length) return null;
  const places = new Map();
  for (const c of citations) {
    const key = JSON.stringify([c.title, where(c), c.locator.url]);
    places.set(key, [...(places.get(key) || []), c]);
  }
  const cards = [...places.values()].map(card);
  const list = h("ol", {}, ...cards);
  const section = h("section.sources", { "aria-label": t("sources") }, list);
  tie(answer, cards);
  let told = null; // what stands above an answer unfolds: its reply is watched as well
  const sized = new ResizeObserver(() => {
    if (!section.isConnected) return;
    if (told !== section.parentElement.parentElement) sized.observe((told = section.parentElement.parentElement));
    beside(section, list, cards, answer);
  });
  sized.observe(answer);
  sized.observe(list);
  return section;
}

function card(citations) {
  const [first] = citations;
  const words = h(
    "button.words",
    { type: "button" },
    h("span.title", { text: titleOf(first), dir: "auto" }),
    h("span.place.fine", {}, icon(iconOf(first.open?.view || first.locator.kind)), h("span", { text: where(first), dir: "auto" })),
    h("span.quote", { text: citations.map((c) => c.quote).filter(Boolean).join(" … "), dir: "auto" }),
    thumbnail(first),
  );
  words.addEventListener("click", () => openCitation(first, words));
  const made = h("li.source", {}, h("span.ns", {}, ...citations.map((c) => chip(c))), words);
  made.dataset.ns = citations.map((c) => c.n).join(" ");
  return made;
}

const numbers = (element) => element.dataset.ns.split(" ").filter(Boolean);
const sentences = (answer) => [...answer.querySelectorAll(".sentence")].filter((s) => s.dataset.ns);

/** Mark a sentence with its cards, and a card with its sentences, under the mouse and under the focus. */
function tie(answer, cards) {
  const mark = (from, others) => (is) => {
    const mine = numbers(from);
    for (const other of [from, ...others()]) other.classList.toggle("tied", is && (other === from || numbers(other).some((n) => mine.includes(n))));
  };
  const watch = (from, others) => {
    const set = mark(from, others);
    for (const event of ["pointerenter", "focusin"]) from.addEventListener(event, () => set(true));
    for (const event of ["pointerleave", "focusout"]) from.addEventListener(event, () => set(false));
  };
  for (const one of cards) watch(one, () => sentences(answer));
  for (const one of sentences(answer)) watch(one, () => cards);
}

/** Lay each card at the height of the first sentence that cites it, none over another. */
function beside(section, list, cards, answer) {
  const reply = section.parentElement.parentElement;
  const room = getComputedStyle(section).position === "absolute";
  section.classList.toggle("beside", room);
  reply.style.minHeight = "";
  if (!room) {
    for (const one of cards) one.style.top = "";
    list.style.height = "";
    return;
  }
  section.style.top = `${answer.offsetTop}px`;
  const from = answer.getBoundingClientRect().top;
  const at = (one) => {
    const mine = numbers(one);
    const said = sentences(answer).find((s) => numbers(s).some((n) => mine.includes(n)));
    return said ? said.getBoundingClientRect().top - from : 0;
  };
  let free = 0;
  for (const [one, wanted] of cards.map((c) => [c, at(c)]).sort((a, b) => a[1] - b[1])) {
    const top = Math.max(free, wanted);
    one.style.top = `${top}px`;
    free = top + one.offsetHeight + GAP;
  }
  list.style.height = `${free}px`;
  reply.style.minHeight = `${answer.offsetTop + free}px`;
}
