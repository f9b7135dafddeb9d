// Citations: the numbered buttons in the text, the card that tells what is behind one, and the list under an answer.

import { h } from "./dom.js";
import { icon, iconOf } from "./icons.js";
import { openCitation } from "./panel.js";
import { day, host, place, placeBeside } from "./words.js";

let card = null;
let soon = 0;

/** A numbered button that opens a source. */
export function chip(citation) {
  const label = `Source ${citation.n}: ${citation.title}, ${place(citation.locator)}`;
  const button = h("button.cite", { type: "button", "aria-label": label, text: String(citation.n) });
  button.addEventListener("click", () => {
    hide();
    openCitation(citation, button);
  });
  button.addEventListener("pointerenter", () => later(button, citation));
  button.addEventListener("focus", () => button.matches(":focus-visible") && later(button, citation));
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, hide);
  return button;
}

/** The list of sources under an answer; what stands at the same place shares a card. */
export function sourceList(citations) {
  if (!citations.length) return null;
  const cards = new Map();
  for (const c of citations) {
    const key = JSON.stringify([c.title, where(c), c.locator.url]);
    cards.set(key, [...(cards.get(key) || []), c]);
  }
  return h("section.sources", { "aria-label": "Sources" }, h("ol", {}, ...[...cards.values()].map(sourceCard)));
}

function sourceCard(citations) {
  const [first] = citations;
  const words = h(
    "button.words",
    { type: "button" },
    h("span.title", { text: first.title || "Untitled", dir: "auto" }),
    h("span.place.fine", {}, icon(iconOf(first.open?.view || first.locator.kind)), h("span", { text: where(first), dir: "auto" })),
  );
  words.addEventListener("click", () => openCitation(first, words));
  return h("li.source", {}, h("span.ns", {}, ...citations.map(chip)), words);
}

/** Where a citation lies; a web page with the day it was read. */
function where(citation) {
  if (citation.locator.url) {
    const read = day(citation.locator.fetched);
    return `${host(citation.locator.url)}${read ? `, read on ${read}` : ""}`;
  }
  return placeBeside(citation.title, citation.locator);
}

function later(button, citation) {
  clearTimeout(soon);
  soon = setTimeout(() => show(button, citation), 180);
}

function show(button, citation) {
  hide();
  if (!button.isConnected) return;
  card = h(
    "div.card",
    { "aria-hidden": "true" },
    h("p.title", { dir: "auto" }, icon(iconOf(citation.open?.view || citation.locator.kind)), citation.title),
    h("p.fine", { text: where(citation), dir: "auto" }),
    citation.quote && h("blockquote", { text: citation.quote, dir: "auto" }),
  );
  document.body.append(card);
  const at = button.getBoundingClientRect();
  const [width, height] = [card.offsetWidth, card.offsetHeight];
  const left = Math.min(Math.max(12, at.left - 24), window.innerWidth - width - 12);
  const above = at.top - height - 8;
  card.style.left = `${left}px`;
  card.style.top = `${above > 8 ? above : at.bottom + 8}px`;
}

/** Take the card away. */
export function hide() {
  clearTimeout(soon);
  card?.remove();
  card = null;
}

document.addEventListener("scroll", hide, true);
document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
