// Citations: the numbered buttons in the text, and the card that tells what is behind one.

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { icon, iconOf } from "./icons.js";
import { withFormulas } from "./maths.js";
import { openCitation } from "./panel.js";
import { day, host, place, placeBeside, plain, titleOf } from "./words.js";

let card = null;
let soon = 0;

/** Give citations the numbers that a reader sees: one for each place, in the order given, those of `places` as they are. */
export function numbered(citations, places = new Map()) {
  for (const c of citations) {
    const key = placeKey(c);
    if (!places.has(key)) places.set(key, places.size + 1);
    c.label = places.get(key);
  }
}

/** What tells the place of a citation from those of others: its page, section or time in a file, whatever its line. */
export const placeKey = ({ title, locator: { file, page, heading, start, url } }) => JSON.stringify([title, file, page, heading, start, url]);

/** The number of a citation as a reader sees it. */
export const labelOf = ({ n, label = n }) => String(label);

/** A numbered button that opens a source; in a sentence it says what the check of the sentence found. */
export function chip(citation, state = "") {
  const says = ["verified", "contradicted", "against"].includes(state) ? state : "source";
  const label = t(`cite.${says}`, { n: labelOf(citation), title: titleOf(citation), place: place(citation.locator) });
  const button = h("button.cite", { type: "button", "aria-label": label, text: labelOf(citation) });
  button.addEventListener("click", () => {
    hide();
    openCitation(citation, button);
  });
  button.addEventListener("pointerenter", () => later(button, citation));
  button.addEventListener("focus", () => button.matches(":focus-visible") && later(button, citation));
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, hide);
  return button;
}

/** Where a citation lies; a web page with the day it was read. */
export function where(citation) {
  if (citation.locator.url) {
    const read = day(citation.locator.fetched);
    const at = host(citation.locator.url);
    return read ? t("cite.read", { host: at, day: read }) : at;
  }
  return placeBeside(citation.title, citation.locator);
}

/** A picture of the place that a citation names: a picture or a frame; nothing where there is none. */
export function thumbnail({ open = {} }) {
  const { view, picture, media, kind } = open;
  const src = picture || (view === "picture" && kind === "image" ? media : null);
  const image = src && h("img", { src, alt: "", loading: "lazy" });
  image?.addEventListener("error", () => image.remove());
  image?.addEventListener("load", () => image.classList.add("there"));
  return image;
}

/** Whether what the card would tell stands beside the sentence already. */
const seenBeside = (button, n) =>
  button.closest(".quotation") ||
  [...(button.closest(".turn")?.querySelectorAll(".sources.beside .source") || [])].some((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return one.dataset.ns.split(" ").includes(String(n)) && top >= 0 && bottom <= window.innerHeight;
  });

function later(button, citation) {
  clearTimeout(soon);
  soon = setTimeout(() => show(button, citation), 180);
}

function show(button, citation) {
  hide();
  if (!button.isConnected || seenBeside(button, citation.n)) return;
  card = h(
    "div.card",
    { "aria-hidden": "true" },
    h("p.title", { dir: "auto" }, icon(iconOf(citation.open?.view || citation.locator.kind)), titleOf(citation)),
    h("p.fine", { text: where(citation), dir: "auto" }),
    thumbnail(citation),
    citation.quote && h("blockquote", { dir: "auto" }, ...withFormulas(plain(citation.quote))),
  );
  document.body.append(card);
  place_(button);
  card.querySelector("img")?.addEventListener("load", () => card && place_(button));
}

function place_(button) {
  const at = button.getBoundingClientRect();
  const [width, height] = [card.offsetWidth, card.offsetHeight];
  const left = Math.min(Math.max(12, at.left - 24), window.innerWidth - width - 12);
  const above = at.top - height - 8;
  card.style.left = `${left}px`;
  card.style.top = `${above > 8 ? above : at.bottom + 8}px`;
}

/** Take the card away. */
function hide() {
  clearTimeout(soon);
  card?.remove();
  card = null;
}

document.addEventListener("scroll", hide, true);
document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
