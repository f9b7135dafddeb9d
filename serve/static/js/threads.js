// The conversations of a library: searched, pinned, in groups by day; each can be named and deleted.

import { call } from "./api.js";
import { confirm } from "./dialog.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { locale, t } from "./i18n.js";
import { icon } from "./icons.js";
import { loadThreads, on, state } from "./state.js";

const MANY = 8; // conversations from which on there is a field to search them
const list = h("div.threads");
const field = h("input.field", { type: "search", placeholder: t("threads.search"), "aria-label": t("threads.search"), autocomplete: "off", dir: "auto" });
const search = h("div.thread-search", { hidden: true }, field);
let around = { onopen: () => {}, named: () => {}, empty: () => {} };
let found = null; // ids of what was searched for, or null where nothing is
let soon = 0;

/** The pane in the side. */
export function threadsPane() {
  field.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(look, 200);
  });
  return h("section.threads-pane", { "aria-labelledby": "threads-title" }, h("div.pane-head", {}, h("h2", { id: "threads-title", text: t("threads") })), search, list);
}

/**
 * Draw the list now and whenever something changes.
 * @param {{onopen: () => void, named: (title: string) => void, empty: () => void}} parts what hears of an opened
 *   conversation and of the title of the one on screen, and takes the focus when the last one is gone
 */
export function watchThreads(parts) {
  around = parts;
  on("threads thread running libraries library", draw);
  on("library", () => {
    field.value = "";
    found = null;
  });
  draw();
}

/** Search titles, questions and answers on the server. */
async function look() {
  const words = field.value.trim();
  try {
    const rows = words ? (await call("GET", `/api/threads?library=${encodeURIComponent(state.library.name)}&q=${encodeURIComponent(words)}`)).threads : null;
    if (words !== field.value.trim()) return;
    found = rows && new Set(rows.map((t) => t.id));
    draw();
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
}

function draw() {
  const here = state.threads.find((t) => t.id === state.thread);
  const name = here?.title;
  around.named(name || "Ragweave");
  document.getElementById("where").textContent = name || t("threads.new");
  document.title = name ? `${name} · Ragweave` : "Ragweave";
  if (list.querySelector("input")) return; // a title is being written
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key || "" : "";
  const mine = state.threads.filter((t) => t.library === state.library.name);
  search.hidden = mine.length < MANY && !field.value;
  const shown = found ? mine.filter((t) => found.has(t.id)) : mine;
  const groups = new Map();
  for (const thread of shown) {
    const name = groupOf(thread);
    groups.set(name, [...(groups.get(name) || []), thread]);
  }
  const none = h("p.empty", { text: t(found ? "threads.none" : "threads.empty") });
  fill(list, ...(shown.length ? [...groups].sort(([a], [b]) => (b === t("threads.pinned")) - (a === t("threads.pinned"))).map(([name, rows]) => h("section", {}, h("h3", { text: name }), h("ul", { "aria-label": name }, ...rows.map(row)))) : [none]));
  // The tools of a row are shown where its focus is: the row first, then the tool.
  for (const key of focused ? [focused.split(" ")[0], focused] : []) list.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** When a conversation was last used, in words. */
function groupOf({ pinned, updated }) {
  if (pinned) return t("threads.pinned");
  const at = new Date(updated);
  const today = new Date().setHours(0, 0, 0, 0);
  const days = Math.ceil((today - at) / 86_400_000);
  if (days <= 0) return t("threads.today");
  if (days === 1) return t("threads.yesterday");
  if (days <= 7) return t("threads.week");
  return at.toLocaleDateString(locale, { month: "long", year: "numeric" });
}

function row(thread) {
  const here = thread.id === state.thread;
  const name = thread.title || t("untitled");
  const at = new Date(thread.updated).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
  const link = h("a", { href: `#/t/${thread.id}`, title: `${name} (${at})`, dir: "auto", "aria-current": here ? "page" : null, text: name, on: { click: () => around.onopen() } });
  link.dataset.key = thread.id;
  const busy = state.running.has(thread.id) ? h("span.spin", { role: "img", "aria-label": t("threads.busy") }) : null;
  const pin = iconButton(icon("pin"), t(thread.pinned ? "threads.unpin" : "threads.pin", { name }), () => change(thread, { pinned: !thread.pinned }), "bare.small");
  pin.setAttribute("aria-pressed", String(thread.pinned));
  const tools = h("span.tools", {}, pin, iconButton(icon("pen"), t("threads.rename", { name }), () => rename(thread, item), "bare.small"), iconButton(icon("trash"), t("threads.delete", { name }), () => remove(thread), "bare.small"));
  [...tools.children].forEach((tool, n) => (tool.dataset.key = `${thread.id} ${n}`));
  const item = h("li.thread", { class: here ? "here" : "" }, link, busy, tools);
  return item;
}

async function change(thread, what) {
  try {
    await call("PATCH", `/api/threads/${encodeURIComponent(thread.id)}`, what);
    await loadThreads();
  } catch (error) {
    toast(error.sentence, { bad: true });
    draw();
  }
  list.querySelector(`[data-key="${CSS.escape(thread.id)}"]`)?.focus();
}

function rename(thread, item) {
  const input = h("input.field", { type: "text", value: thread.title, maxlength: "200", "aria-label": t("threads.title"), dir: "auto" });
  let open = true;
  const close = (keep) => {
    if (!open) return;
    open = false;
    const named = input.value.trim();
    input.remove();
    change(thread, keep && named && named !== thread.title ? { title: named } : {});
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
  const agreed = await confirm(t("threads.delete.ask"), t("threads.delete.tell", { name: thread.title || t("untitled") }), t("delete"));
  if (!agreed) return;
  try {
    await call("DELETE", `/api/threads/${encodeURIComponent(thread.id)}`);
    if (state.thread === thread.id) window.location.hash = "#/";
    await loadThreads();
    const next = list.querySelector("a");
    if (next) next.focus();
    else around.empty();
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
}
