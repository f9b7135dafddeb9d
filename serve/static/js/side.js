// The side: which library is asked, its sources, and the conversations.

import { fill, h, iconButton, toast } from "./dom.js";
import { language, LANGUAGES, t } from "./i18n.js";
import { icon } from "./icons.js";
import { forgetKey } from "./login.js";
import { openLibraries } from "./libraries.js";
import { openSettings } from "./settings.js";
import { openShortcuts } from "./shortcuts.js";
import { focusSources, sourcesPane } from "./sources.js";
import { holds, on, state } from "./state.js";
import { themeButton } from "./theme.js";
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
    h("a.row", { href: "#/notes", on: { click: () => narrow() && fold(true) } }, icon("note"), t("notes")),
    sourcesPane(),
    threadsPane(),
    h("div.foot", {}, themeButton(), iconButton(icon("keys"), t("keys"), openShortcuts), languageChoice(), h("span.grow"), recall("key") && iconButton(icon("leave"), t("side.forget"), leave), iconButton(icon("sliders"), t("settings"), openSettings)),
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

/** The language of the page, for a reader whose browser speaks another. */
function languageChoice() {
  const options = Object.entries(LANGUAGES).map(([value, text]) => h("option", { value, text, lang: value }));
  const choice = h("select.field.small.language", { "aria-label": t("side.language"), title: t("side.language") }, ...options);
  choice.value = language;
  choice.addEventListener("change", () => {
    remember("language", choice.value);
    window.location.reload();
  });
  return choice;
}

const leave = () => forgetKey().catch((error) => toast(error.sentence, { bad: true }));

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
