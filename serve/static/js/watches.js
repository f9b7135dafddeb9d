// Questions that nothing answered yet: asked again when the library changes, and told of when they are known.

import { call } from "./api.js";
import { ask } from "./conversation.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { recall, remember } from "./prefs.js";
import { on, state } from "./state.js";

let rows = [];
let soon = 0;
const box = h("section.watches", { hidden: true, "aria-label": t("watch.all") });

/** What is watched in this library, for the page of an empty conversation. */
export const watched = () => box;

/** Look again whenever the library may have changed. */
export function followWatches() {
  on("libraries library sources", () => {
    clearTimeout(soon);
    soon = setTimeout(look, 1500); // while files are indexed, one after the other rings
  });
}

/** Watch a question, and tell of it once it is known. */
export async function watch(question) {
  try {
    await call("POST", "/api/watches", { question, library: state.library.name });
    toast(t("watch.kept"));
    await look();
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
}

async function look() {
  const { id, name } = state.library;
  if (!id) return;
  try {
    const { watches } = await call("GET", `/api/watches?library=${encodeURIComponent(name)}`);
    if (name !== state.library.name) return;
    rows = watches;
  } catch {
    return; // the next look will tell
  }
  draw();
  const told = recall("told", []);
  for (const { id: one, question } of rows.filter((row) => row.known && !told.includes(row.id))) {
    toast(t("watch.known", { question }), { action: h("button.button.small", { type: "button", text: t("watch.ask"), on: { click: () => again(question) } }) });
    told.push(one);
  }
  remember("told", told.slice(-100));
}

function draw() {
  box.hidden = !rows.length;
  const items = rows.map((row) => h(
    "li",
    { class: row.known ? "known" : "" },
    h("span.words", {}, h("button.suggested", { type: "button", text: row.question, dir: "auto", on: { click: () => again(row.question) } }), h("span.fine", { text: row.known || t("watch.waits"), dir: "auto" })),
    iconButton(icon("trash"), t("watch.end", { question: row.question }), () => end(row), "bare.small"),
  ));
  fill(box, h("h3", { text: t("watch.all") }), h("ul", { role: "list" }, ...items));
}

function again(question) {
  if (!state.thread) return ask(question);
  // In a conversation of its own, once the page has begun it.
  window.addEventListener("hashchange", () => ask(question), { once: true });
  window.location.hash = "#/";
  return null;
}

async function end({ id }) {
  try {
    await call("DELETE", `/api/watches/${encodeURIComponent(id)}`);
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
  await look();
  (box.querySelector("button") || document.getElementById("question")).focus();
}
