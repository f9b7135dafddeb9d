// The libraries: choose one, make one, name it, delete it.

import { call } from "./api.js";
import { askText, confirm, openDialog } from "./dialog.js";
import { announce, fill, h, iconButton, toast } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { holds, loadLibraries, loadThreads, on, ring, state, useLibrary } from "./state.js";

let list = null;
let going = null; // id of the library that is being deleted

/** Open the list of libraries. */
export function openLibraries() {
  list = h("ul.rows", { role: "list" });
  const make = h("button.button.small", { type: "button", on: { click: create } }, icon("plus"), t("libraries.new"));
  const dialog = openDialog(t("libraries"), [list, h("div.choices", {}, state.me?.may_change ? make : null)], { onclose: () => (list = null) });
  draw(dialog);
  dialog.querySelector("[aria-current]")?.focus();
  loadLibraries().catch((error) => toast(error.sentence, { bad: true }));
}

on("libraries library", () => list && draw(list.closest("dialog")));

function draw(dialog) {
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const rows = state.libraries.map((library) => {
    const here = library.name === state.library.name;
    const leaves = library.id === going;
    const told = leaves ? t("removing") : holds(library).join(", ") || t("empty");
    const choose = h("button.choose", { type: "button", disabled: leaves, "aria-current": here ? "true" : null, on: { click: () => pick(library, dialog) } }, icon(here ? "check" : "books"), h("span.words", {}, h("span.name", { text: library.name, dir: "auto" }), h("span.fine.number", { text: told })));
    const tools = state.me?.may_change && !leaves
      ? [iconButton(icon("pen"), t("threads.rename", { name: library.name }), () => rename(library), "bare.small"), iconButton(icon("trash"), t("threads.delete", { name: library.name }), () => remove(library), "bare.small")]
      : [];
    [choose, ...tools].forEach((button, n) => (button.dataset.key = `${library.id} ${n}`));
    return h("li", { class: leaves ? "leaves" : "" }, choose, ...tools, leaves ? h("span.spin") : null);
  });
  fill(list, ...(rows.length ? rows : [h("li.fine", { text: t("libraries.none") })]));
  if (focused) (list.querySelector(`[data-key="${CSS.escape(focused)}"]`) || list.querySelector("button"))?.focus();
}

function pick(library, dialog) {
  const other = library.name !== state.library.name;
  useLibrary(library.name);
  dialog.close();
  // A conversation stays with the library it was begun with.
  if (other && state.thread) window.location.hash = "#/";
}

function create() {
  askText(t("libraries.new"), {
    label: t("libraries.name"),
    verb: t("libraries.create"),
    save: async (name) => {
      const made = await call("POST", "/api/libraries", { name });
      await loadLibraries(made.name);
      if (state.thread) window.location.hash = "#/";
      useLibrary(made.name);
    },
  });
}

function rename(library) {
  askText(t("libraries.rename"), {
    label: t("libraries.name"),
    value: library.name,
    verb: t("rename"),
    save: async (name) => {
      const made = await call("PATCH", `/api/libraries/${encodeURIComponent(library.id)}`, { name });
      await loadLibraries(library.id === state.library.id ? made.name : null);
      await loadThreads();
    },
  });
}

async function remove(library) {
  const agreed = await confirm(t("libraries.delete.ask"), t("libraries.delete.tell", { name: library.name }), t("libraries.delete"));
  if (!agreed) return;
  going = library.id;
  announce(t("removing"));
  ring("libraries");
  try {
    await call("DELETE", `/api/libraries/${encodeURIComponent(library.id)}`);
    await loadLibraries();
    await loadThreads();
    if (state.thread && !state.threads.some((t) => t.id === state.thread)) window.location.hash = "#/";
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
  going = null;
  ring("libraries");
}
