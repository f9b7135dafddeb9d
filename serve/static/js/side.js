// The side: which library is asked, its sources, and the conversations.

import { fill, h, iconButton } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { openLibraries } from "./libraries.js";
import { openMenu } from "./menu.js";
import { focusSources, sourcesPane } from "./sources.js";
import { holds, on, state } from "./state.js";
import { threadsPane, watchThreads } from "./threads.js";
import { recall, remember } from "./prefs.js";

const app = () => document.getElementById("app");
const small = window.matchMedia("(max-width: 760px)");
const narrow = () => small.matches;
const choice = h("button.library", { type: "button", "aria-haspopup": "dialog", on: { click: openLibraries } });
const title = h("span.title", { dir: "auto" });

/** Build the side and the bar that stands in its place when it is folded. */
export function buildSide() {
  fill(
    document.getElementById("side"),
    h("div.brand", {}, h("img", { src: "/static/mark.svg", alt: "" }), "Ragweave", iconButton(icon("side"), t("side.hide"), () => fold(true), "bare.small")),
    choice,
    h("a.row", { href: "#/", on: { click: () => narrow() && fold(true) } }, icon("plus"), t("threads.new")),
    sourcesPane(),
    threadsPane(),
    h("button.row.more-row", { type: "button", "aria-haspopup": "dialog", on: { click: () => openMenu(() => fold(true)) } }, icon("menu"), t("menu")),
  );
  fill(document.getElementById("bar"), iconButton(icon("menu"), t("side.show"), () => fold(false)), title, h("a.bare", { href: "#/", "aria-label": t("threads.new"), title: t("threads.new") }, icon("plus")));
  document.getElementById("scrim").addEventListener("click", () => fold(true));
  const fit = () => fold(narrow() || recall("folded", false), false);
  small.addEventListener("change", fit);
  fit();
  on("libraries library", drawLibrary);
  drawLibrary();
  watchThreads({ onopen: () => narrow() && fold(true), named: (name) => (title.textContent = name), empty: () => choice.focus() });
}

/** Fold the side away, or bring it back. */
function fold(is, keep = true) {
  app().classList.toggle("folded", is);
  document.getElementById("scrim").hidden = is;
  if (keep && !narrow()) remember("folded", is);
  if (keep && !is) choice.focus({ preventScroll: true });
}

/** Show the sources, and put the focus there. */
export function toSources() {
  fold(false);
  focusSources();
}

/** Fold the side where it lies over the conversation; tells whether it did. */
export function foldOver() {
  if (!narrow() || app().classList.contains("folded")) return false;
  fold(true);
  return true;
}

function drawLibrary() {
  const told = holds(state.library)[0] || t("empty");
  choice.title = holds(state.library).join(", ");
  fill(choice, icon("books"), h("span.unseen", { text: t("side.library") }), h("span.grow", {}, h("span.name", { text: state.library.name, dir: "auto" }), h("span.fine.number", { text: told })), icon("down"));
}
