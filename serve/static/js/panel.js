// The side panel: what a citation opens.

import { call } from "./api.js";
import { copyText, fill, h, iconButton } from "./dom.js";
import { t } from "./i18n.js";
import { icon, iconOf } from "./icons.js";
import { withFormulas } from "./maths.js";
import { pageView } from "./view_page.js";
import { pictureView, videoView } from "./view_media.js";
import { textView, webView } from "./view_text.js";
import { state } from "./state.js";
import { nameOf, placeBeside, titleOf, unnumbered } from "./words.js";

const VIEWS = { page: pageView, text: textView, picture: pictureView, video: videoView, web: webView };
const SETTLED = 6; // frames after which nothing moves any more
const panel = () => document.getElementById("panel");

document.addEventListener("ragweave:close-panel", () => closePanel());

let opener = null;
let leaveView = () => {};
let shown = 0;

/** Open a citation of an answer. */
export async function openCitation(citation, from = null) {
  await show({ ...citation, open: citation.open || { view: "none" } }, from);
}

/** Open a source from its beginning. */
export async function openSource(source, library, from) {
  const told = await call("GET", `/api/sources/${encodeURIComponent(source.id)}?library=${encodeURIComponent(library)}`);
  const { bbox, chars, start, end, ...open } = told.open;
  const { heading, start: _, end: __, ...locator } = told.locator;
  await show({ n: null, id: told.item, title: nameOf(source), locator, quote: "", open: told.kind === "pdf" ? { ...open, view: "page", page: 1 } : open }, from);
}

/** Open an item by the address that links in other programs use: library id, item id, and characters. */
export async function openAddress(library, id, chars) {
  const path = `/api/open/${encodeURIComponent(library)}/${encodeURIComponent(id)}`;
  const item = await call("GET", path);
  const range = /^(\d{1,9})-(\d{1,9})$/.exec(chars || "");
  const narrow = range ? { chars: [Number(range[1]), Number(range[2])] } : {};
  const quote = range ? item.text.slice(...narrow.chars).slice(0, 500) : "";
  await show({ n: null, id: item.id, title: item.title, locator: item.locator, quote, open: { ...item.open, ...narrow } }, null);
}

async function show(citation, from) {
  leaveView();
  leaveView = () => {};
  shown += 1;
  const mine = shown;
  opener?.removeAttribute("aria-expanded");
  opener = from;
  opener?.setAttribute("aria-expanded", "true");
  const body = h("div.panel-body", {}, h("p.waiting.fine", {}, h("span.spin"), t("opening")));
  const title = h("h2", { id: "panel-title", tabindex: "-1", dir: "auto", text: titleOf(citation) });
  const original = citation.open.media && !citation.locator.url
    ? h("a.bare", { href: citation.open.media, target: "_blank", rel: "noopener noreferrer", "aria-label": t("panel.tab"), title: t("panel.tab") }, icon("out"))
    : null;
  fill(
    panel(),
    h(
      "header.panel-head",
      {},
      icon(iconOf(citation.open.view)),
      h("div.words", {}, title, h("p.fine", { text: placeBeside(citation.title || "", citation.locator), dir: "auto" })),
      original,
      citation.open.href && iconButton(icon("link"), t("panel.link"), () => copyText(window.location.origin + citation.open.href)),
      iconButton(icon("close"), t("close"), closePanel),
    ),
    body,
  );
  const still = hold(from);
  panel().hidden = false;
  still();
  panel().setAttribute("aria-labelledby", "panel-title");
  title.focus({ preventScroll: true });
  const view = VIEWS[citation.open.view];
  if (!view) {
    fill(body, quoted(citation), h("p.fine", { text: t("panel.gone") }));
    return;
  }
  try {
    const made = await view(citation, body);
    if (mine !== shown) made?.leave?.();
    else if (made?.leave) leaveView = made.leave;
  } catch (error) {
    if (mine !== shown) return;
    const alert = h("div.problem", { role: "alert" }, icon("alert"), h("p", { text: error.sentence || String(error.message) }));
    fill(body, alert, quoted(citation));
    if (error.status === 404 && citation.locator.file) alert.append(await renewed(citation.locator.file, from));
  }
}

/** A button that opens a file which was indexed anew since it was cited; nothing where it is gone. */
async function renewed(file, from) {
  const library = state.library.name;
  const { sources } = await call("GET", `/api/sources?library=${encodeURIComponent(library)}`).catch(() => ({ sources: [] }));
  const [source] = sources.filter((s) => unnumbered(s.name) === unnumbered(file) && s.status !== "failed").sort((a, b) => (a.indexed < b.indexed ? 1 : -1));
  return source ? h("button.button.small", { type: "button", text: t("panel.renewed", { file: source.name }), on: { click: () => openSource(source, library, from) } }) : "";
}

/** The address of the item of a citation; it names the library by its id, which a rename leaves alone. */
export const itemAddress = (citation) => `/api${citation.open.href.split("?")[0]}`;

/** The words that an answer rests on. */
export function quoted(citation) {
  if (!citation.quote) return null;
  return h("figure.quoted", {}, h("figcaption.fine", { text: t("panel.rests") }), h("blockquote", { dir: "auto" }, ...withFormulas(citation.quote)));
}

/** Make the panel wider, or as it was; with null, tell which it is. */
export function widen(is = !panel().classList.contains("wide")) {
  if (is !== null) panel().classList.toggle("wide", is);
  return panel().classList.contains("wide");
}

/** Remember where in the window an element stands; what is returned keeps it there while all is laid out anew. */
function hold(element) {
  const main = document.getElementById("main");
  const top = main.contains(element) ? element.getBoundingClientRect().top : 0;
  const back = (frames) => {
    if (!frames || !main.contains(element)) return;
    main.scrollBy({ top: element.getBoundingClientRect().top - top, behavior: "instant" });
    requestAnimationFrame(() => back(frames - 1));
  };
  return () => back(SETTLED);
}

/** Close the panel; the focus goes back to what opened it. */
export function closePanel() {
  if (panel().hidden) return false;
  leaveView();
  leaveView = () => {};
  shown += 1;
  const still = hold(opener);
  panel().hidden = true;
  still();
  fill(panel());
  opener?.removeAttribute("aria-expanded");
  if (opener?.isConnected) opener.focus({ preventScroll: true });
  opener = null;
  return true;
}
