// The sources of the library, in the side: in groups by kind; ticked ones alone are searched, or removed; a click opens one.

import { call, removeSources } from "./api.js";
import { confirm } from "./dialog.js";
import { announce, fill, h, iconButton, toast, uid } from "./dom.js";
import { locale, t } from "./i18n.js";
import { icon, iconOf } from "./icons.js";
import { lists } from "./lazy.js";
import { openSource } from "./panel.js";
import { loadLibraries, on, onlySources, setOnlySources, state } from "./state.js";
import { day, groupOf, nameOf, number, size, some } from "./words.js";

const FEW = 12; // sources that need no search
const LONG = 200; // a group with more is folded at first
const byName = (a, b) => nameOf(a).localeCompare(nameOf(b), locale);

let held = { library: null, sources: [] };
const folded = new Map(); // group to whether the reader folded it
const going = new Set(); // ids of sources that are being removed

const filter = h("input.field.small", { type: "search", placeholder: t("sources.find"), "aria-label": t("sources.find"), on: { input: draw } });
const tools = h("div.source-tools", { hidden: true }, filter);
const told = h("p.fine.number", { role: "status" });
const doing = h("div.choices");
const list = h("div.source-list");

/** The pane of the sources. */
export function sourcesPane() {
  let soon = 0;
  on("sources", () => {
    clearTimeout(soon);
    soon = setTimeout(load, 300); // while files are indexed, one after the other rings
  });
  on("libraries library", load);
  on("settings", draw);
  load();
  return h("section.sources-pane", { "aria-labelledby": "sources-title" }, h("div.pane-head", {}, h("h2", { id: "sources-title", text: t("sources") })), tools, told, doing, list);
}

/** Put the focus into the sources. */
export function focusSources() {
  (tools.hidden ? list.querySelector("input, button") || document.querySelector("button.library") : filter).focus();
}

async function load() {
  const { name, id } = state.library;
  try {
    const { sources } = id ? await call("GET", `/api/sources?library=${encodeURIComponent(name)}`) : { sources: [] };
    if (name !== state.library.name) return;
    if (held.library !== id) filter.value = "";
    held = { library: id, sources };
    // What was removed in another tab is not asked for.
    const there = onlySources().filter((one) => sources.some((s) => s.id === one));
    if (there.length !== onlySources().length) setOnlySources(there);
    draw();
  } catch (error) {
    fill(list, h("p.wrong", { text: error.sentence || String(error.message) }));
  }
}

function draw() {
  const { sources } = held;
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const only = new Set(onlySources());
  const kinds = [...new Set(sources.map(groupOf))].sort(failedFirst);
  tools.hidden = sources.length < FEW && !filter.value; // what is in use can be taken back
  const words = filter.value.trim().toLowerCase();
  const shown = sources.filter((s) => `${s.name} ${s.title}`.toLowerCase().includes(words)).sort(byName);
  const failed = sources.filter((s) => s.status === "failed").length;
  const all = shown.length < sources.length ? t("sources.some", { few: shown.length, n: sources.length }) : some(sources.length, "source");
  told.textContent = !sources.length ? t("sources.empty") : only.size ? t("sources.only", { few: only.size, n: sources.length }) : failed ? t("sources.failed", { sources: all, n: failed }) : all;
  const button = (text, click, look = "") => h(`button.button.small${look}`, { type: "button", text, on: { click } });
  fill(doing, only.size ? button(t("sources.all"), () => setOnlySources([])) : null, only.size && sources.every((s) => s.removable || !only.has(s.id)) ? button(t("sources.remove.n", { n: only.size }), () => remove(sources.filter((s) => only.has(s.id))), ".danger") : null);
  const groups = kinds.map((name) => [name, shown.filter((s) => groupOf(s) === name)]).filter(([, rows]) => rows.length);
  fill(list, ...groups.map(([name, rows]) => group(name, rows, only)), sources.length && !shown.length ? h("p.fine", { text: t("sources.none") }) : null);
  if (focused) list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

const failedFirst = (a, b) => Number(b === "failed") - Number(a === "failed") || t(`kind.${a}`).localeCompare(t(`kind.${b}`), locale);

function group(name, rows, only) {
  const title = t(`kind.${name}`);
  const id = uid("group");
  const shut = folded.get(name) ?? rows.length > LONG;
  const able = rows.filter((s) => s.status !== "failed").map((s) => s.id);
  const ticked = able.filter((one) => only.has(one)).length;
  const all = able.length ? h("input", { type: "checkbox", checked: ticked === able.length, indeterminate: ticked > 0 && ticked < able.length, "aria-label": t("sources.group", { name: title }), on: { change: (event) => tick(able, event.target.checked) } }) : icon("alert");
  const fold = h("button.fold", { type: "button", "aria-expanded": String(!shut), "aria-controls": id, on: { click: () => (folded.set(name, !shut), draw()) } }, h("span", { text: title }), h("span.fine.number", { text: number(rows.length) }), icon("down"));
  all.dataset.key = `all ${name}`;
  fold.dataset.key = `fold ${name}`;
  const clear = able.length || !rows.every((s) => s.removable) ? null : iconButton(icon("trash"), t("sources.remove.n", { n: rows.length }), () => remove(rows), "bare.small");
  return h("div.group", {}, h("div.group-head", {}, all, h("h3", {}, fold), clear), h("div", { id, hidden: shut }, ...(shut ? [] : lists(rows, (s) => row(s, only), list, title))));
}

function row(source, only) {
  const ok = source.status !== "failed";
  const name = nameOf(source);
  const leaves = going.has(source.id);
  const facts = leaves ? t("removing") : [name === source.name ? source.kind : source.name, day(source.date), size(source.bytes)].filter(Boolean).join(" · ");
  const box = ok ? h("input", { type: "checkbox", checked: only.has(source.id), disabled: leaves, "aria-label": t("sources.search", { name: source.name }), on: { change: (event) => tick([source.id], event.target.checked) } }) : icon("alert");
  const open = h("button.open", { type: "button", title: t(ok ? "sources.open" : "sources.unread", { name: source.name }), disabled: !ok || leaves, on: { click: () => show(source, open) } }, h("span.name", {}, icon(iconOf(source.kind)), h("span", { text: name, dir: "auto" })), h("span.fine.number", { text: facts, dir: "auto" }));
  box.dataset.key = `box ${source.id}`;
  open.dataset.key = `open ${source.id}`;
  const wrong = source.reason && h("p.wrong", { text: source.reason, dir: "auto" });
  const warned = ok && source.warnings.length && h("p.warned.fine", { text: source.warnings.slice(0, 3).map(said).join("; "), dir: "auto" });
  return h("li", { class: leaves ? "leaves" : source.status }, box, h("div.words", {}, open, wrong || null, warned || null), leaves ? h("span.spin") : source.removable && iconButton(icon("trash"), t("sources.remove", { name: source.name }), () => remove([source]), "bare.small"));
}

function tick(ids, is) {
  const rest = onlySources().filter((id) => !ids.includes(id));
  setOnlySources(is ? [...rest, ...ids] : rest);
}

async function show(source, from) {
  try {
    await openSource(source, state.library.name, from);
  } catch (error) {
    toast(error.sentence || String(error.message), { bad: true });
  }
}

async function remove(gone) {
  const n = gone.length;
  const uploaded = gone.filter((s) => s.uploaded).length;
  const what = !uploaded ? t("sources.files.stay") : uploaded === n ? t("sources.files.go", { n }) : t("sources.files.some", { n: uploaded });
  const named = n === 1 ? t("sources.remove.one", { name: gone[0].name }) : t("sources.remove.many", { n, first: gone[0].name, last: gone.at(-1).name });
  if (!(await confirm(t("sources.remove.ask", { n }), `${named} ${what}`, t("remove")))) return;
  const library = state.library.name;
  for (const source of gone) going.add(source.id);
  draw();
  announce(t("removing"));
  try {
    await removeSources(gone, library);
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
  for (const source of gone) going.delete(source.id);
  await loadLibraries().catch(() => {});
  await load(); // what remains may need no search field
  focusSources();
}
