// The sources of the library: what was indexed, what failed and why; open, search only these, remove.

import { call } from "./api.js";
import { confirm, openDialog } from "./dialog.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { icon, iconOf } from "./icons.js";
import { loadLibraries, on, onlySources, setOnlySources, state } from "./state.js";
import { pickFiles, removeSource } from "./upload.js";
import { day, size, some } from "./words.js";

let open = null; // {list, filter, told, sources}

/** Open the list of sources. */
export async function openSources() {
  const filter = h("input.field", { type: "search", placeholder: "Find a source", "aria-label": "Find a source", on: { input: draw } });
  const list = h("ul.rows.sources-rows", { role: "list" }, h("li.fine", {}, h("span.spin"), " Loading"));
  const told = h("p.fine.number", { role: "status" });
  const add = h("button.button.small", { type: "button", on: { click: pickFiles } }, icon("upload"), "Add files");
  openDialog(`Sources of “${state.library.name}”`, [h("div.list-head", {}, filter, add), told, list], { classes: "wide", onclose: () => (open = null) });
  open = { list, filter, told, sources: [] };
  await load();
}

on("sources", () => open && load());
on("settings", () => open && draw());

async function load() {
  try {
    const { sources } = await call("GET", `/api/sources?library=${encodeURIComponent(state.library.name)}`);
    if (!open) return;
    open.sources = sources.sort((a, b) => (a.status === "failed" ? 0 : 1) - (b.status === "failed" ? 0 : 1) || a.name.localeCompare(b.name));
    draw();
  } catch (error) {
    if (open) fill(open.list, h("li.wrong", { text: error.status === 404 ? "This library does not exist yet. The first upload makes it." : error.sentence }));
  }
}

function draw() {
  if (!open) return;
  const { list, filter, told, sources } = open;
  const wanted = filter.value.trim().toLowerCase();
  const shown = sources.filter((s) => `${s.name} ${s.title}`.toLowerCase().includes(wanted));
  const failed = sources.filter((s) => s.status === "failed").length;
  const only = onlySources();
  told.textContent = `${some(sources.length, "source")}${failed ? `, ${failed} could not be read` : ""}${only.length ? `; only ${only.length} searched` : ""}`;
  const none = sources.length ? "No source has that in its name." : "Nothing is indexed yet. Drop files anywhere on this page.";
  fill(list, ...(shown.length ? shown.map((s) => row(s, only)) : [h("li.fine.none", { text: none })]));
}

function row(source, only) {
  const ok = source.status !== "failed";
  const facts = [source.kind, size(source.bytes), day(source.date || source.indexed)].filter(Boolean).join(" · ");
  const chosen = only.includes(source.id);
  const pick = () => setOnlySources(chosen ? only.filter((id) => id !== source.id) : [...only, source.id]);
  const limit = ok && h("button.button.small.only", { type: "button", "aria-pressed": String(chosen), "aria-label": `Only this: search ${source.name} alone`, text: "Only this", on: { click: pick } });
  const link = ok ? h("a.name", { href: source.media, target: "_blank", rel: "noopener noreferrer", text: source.name, dir: "auto" }) : h("span.name", { text: source.name, dir: "auto" });
  return h(
    "li",
    { class: source.status },
    icon(ok ? iconOf(source.kind) : "alert"),
    h("span.words", {}, link, h("span.fine.number", { text: facts }), source.reason && h("span.wrong", { text: source.reason, dir: "auto" }), ...source.warnings.slice(0, 3).map((text) => h("span.warned.fine", { text, dir: "auto" }))),
    limit,
    iconButton(icon("trash"), `Remove ${source.name}`, () => remove(source), "bare.small"),
  );
}

async function remove(source) {
  const what = source.uploaded ? "The uploaded copy is deleted as well." : "The file itself stays where it is.";
  if (!(await confirm("Remove this source?", `“${source.name}” will no longer be searched. ${what}`, "Remove"))) return;
  try {
    await removeSource(source.id, state.library.name);
    setOnlySources(onlySources().filter((id) => id !== source.id));
    await Promise.all([load(), loadLibraries()]);
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
}
