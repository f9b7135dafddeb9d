// What may be read after an answer: the sections that follow in its sources.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { openCitation } from "./panel.js";
import { state } from "./state.js";

/** Put what comes next into a box, where there is something, and where it is still wanted. */
export async function whatNext(box, answer, wanted) {
  const ids = [...new Set(answer.citations.filter((c) => c.origin === "library").map((c) => c.id))].slice(0, 8);
  if (!ids.length || !state.library) return;
  const sent = new URLSearchParams([["library", state.library.name], ...ids.map((id) => ["item", id])]);
  try {
    const told = await call("GET", `/api/next?${sent}`);
    if (wanted()) fill(box, sections(told.places));
  } catch {
    // An answer stands without it.
  }
}

function sections(places) {
  if (!places.length) return null;
  const items = places.map((place) => {
    const open = h("button.button.small", { type: "button", title: place.title }, icon("file"), h("span", { text: place.locator.heading?.at(-1) || place.title, dir: "auto" }));
    open.addEventListener("click", () => openCitation({ n: null, ...place, quote: "" }, open));
    return h("li", {}, open);
  });
  return h("section.further", { "aria-label": t("next.read") }, h("h3", { text: t("next.read") }), h("ul", { role: "list" }, ...items));
}
