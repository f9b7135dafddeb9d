// The side: which library is asked, and the conversations, each of which can be named and deleted.

import { call } from "./api.js";
import { confirm } from "./dialog.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { icon } from "./icons.js";
import { forgetKey } from "./login.js";
import { openLibraries } from "./libraries.js";
import { saveProof } from "./proof.js";
import { openSettings } from "./settings.js";
import { openShortcuts } from "./shortcuts.js";
import { focusSources, sourcesPane } from "./sources.js";
import { holds, loadThreads, on, state } from "./state.js";
import { themeButton } from "./theme.js";
import { recall, remember } from "./prefs.js";

const app = () => document.getElementById("app");
const narrow = () => window.matchMedia("(max-width: 760px)").matches;
const choice = h("button.library", { type: "button", "aria-haspopup": "dialog", on: { click: openLibraries } });
const list = h("ul.threads", { "aria-label": "Conversations" });
const title = h("span.title", { dir: "auto" });

/** Build the side and the bar that stands in its place when it is folded. */
export function buildSide() {
  fill(
    document.getElementById("side"),
    h("div.brand", {}, h("img", { src: "/static/mark.svg", alt: "" }), "Ragweave", iconButton(icon("side"), "Hide the side", () => fold(true), "bare.small")),
    choice,
    h("a.row", { href: "#/", on: { click: () => narrow() && fold(true) } }, icon("plus"), "New conversation"),
    sourcesPane(),
    h("section.threads-pane", { "aria-labelledby": "threads-title" }, h("div.pane-head", {}, h("h2", { id: "threads-title", text: "Conversations" })), list),
    h("div.foot", {}, themeButton(), iconButton(icon("keys"), "Keyboard", openShortcuts), h("span.grow"), recall("key") && iconButton(icon("leave"), "Forget the key of this server", leave), iconButton(icon("sliders"), "Settings of a run", openSettings)),
  );
  fill(document.getElementById("bar"), iconButton(icon("menu"), "Show the side", () => fold(false)), title, h("a.bare", { href: "#/", "aria-label": "New conversation", title: "New conversation" }, icon("plus")));
  document.getElementById("scrim").addEventListener("click", () => fold(true));
  fold(narrow() || recall("folded", false), false);
  on("libraries library", drawLibrary);
  on("threads thread running libraries library", drawThreads);
  drawLibrary();
  drawThreads();
}

const leave = () => forgetKey().catch((error) => toast(error.sentence, { bad: true }));

/** Fold the side away, or bring it back. */
export function fold(is, keep = true) {
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
  const told = holds(state.library)[0] || "empty";
  choice.title = holds(state.library).join(", ");
  fill(choice, icon("books"), h("span.unseen", { text: "Library" }), h("span.grow", {}, h("span.name", { text: state.library.name, dir: "auto" }), h("span.fine.number", { text: told })), icon("down"));
}

function drawThreads() {
  const here = state.threads.find((t) => t.id === state.thread);
  title.textContent = here?.title || "Ragweave";
  document.getElementById("where").textContent = here?.title || "New conversation";
  document.title = here?.title ? `${here.title} · Ragweave` : "Ragweave";
  if (list.querySelector("input")) return; // a title is being written
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const mine = state.threads.filter((t) => t.library === state.library.name);
  fill(list, ...(mine.length ? mine.map(row) : [h("li.empty", { text: "What you ask is kept here." })]));
  if (focused) list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

function row(thread) {
  const here = thread.id === state.thread;
  const name = thread.title || "Untitled";
  const other = thread.library !== state.library.name;
  const link = h("a", { href: `#/t/${thread.id}`, title: other ? `${name} (library ${thread.library})` : name, dir: "auto", "aria-current": here ? "page" : null, text: name, on: { click: () => narrow() && fold(true) } });
  link.dataset.key = thread.id;
  const busy = state.running.has(thread.id) ? h("span.spin", { role: "img", "aria-label": "being answered" }) : null;
  const tools = h("span.tools", {}, iconButton(icon("seal"), `Save ${name} as a proof`, () => saveProof({ thread: thread.id }, name), "bare.small"), iconButton(icon("pen"), `Rename ${name}`, () => rename(thread, item), "bare.small"), iconButton(icon("trash"), `Delete ${name}`, () => remove(thread), "bare.small"));
  const item = h("li.thread", { class: here ? "here" : "" }, link, busy, tools);
  return item;
}

function rename(thread, item) {
  const input = h("input.field", { type: "text", value: thread.title, maxlength: "200", "aria-label": "Title of the conversation", dir: "auto" });
  let open = true;
  const close = async (keep) => {
    if (!open) return;
    open = false;
    const named = input.value.trim();
    input.remove();
    if (keep && named && named !== thread.title) {
      try {
        await call("PATCH", `/api/threads/${encodeURIComponent(thread.id)}`, { title: named });
        thread.title = named;
      } catch (error) {
        toast(error.sentence, { bad: true });
      }
    }
    drawThreads();
    list.querySelector(`[data-key="${CSS.escape(thread.id)}"]`)?.focus();
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close(event.key === "Enter");
    }
  });
  input.addEventListener("blur", () => close(true));
  fill(item, input);
  input.select();
}

async function remove(thread) {
  const agreed = await confirm("Delete this conversation?", `“${thread.title || "Untitled"}” goes with all its questions and answers. The library stays as it is.`, "Delete");
  if (!agreed) return;
  try {
    await call("DELETE", `/api/threads/${encodeURIComponent(thread.id)}`);
    if (state.thread === thread.id) window.location.hash = "#/";
    await loadThreads();
    (list.querySelector("a") || choice).focus();
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
}
