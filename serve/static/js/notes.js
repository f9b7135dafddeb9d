// What is kept of a library: answers as they were, passages, and words of one's own.

import { sendText } from "./add.js";
import { call } from "./api.js";
import { confirm } from "./dialog.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { offer } from "./proof.js";
import { placeRow } from "./refusal.js";
import { isCode, write } from "./sentence.js";
import { on, state } from "./state.js";
import { day } from "./words.js";

const MANY = 8; // notes from which on there is a field to search them
const LONGEST = "20000"; // characters of one's own words
const proof = (title, given = {}) => offer("/api/notes/proof", { library: state.library.name, ...given }, title);

const drafts = new Map(); // what is being written and not kept yet, by note; of a new one by its library
let page = null;
let shown = ""; // the library that it is the page of
let look = () => {};
let soon = 0;

/** Keep an answer of a conversation, a passage of an item, or a text; tells whether the server took it. */
export async function keepNote(about) {
  try {
    await call("POST", "/api/notes", { library: state.library.name, ...about });
    if (!page?.isConnected) toast(t("notes.kept"), { action: h("a.button.small", { href: "#/notes", text: t("notes") }) });
    return true;
  } catch (error) {
    toast(error.sentence, { bad: true });
    return false;
  }
}

const chosen = () => JSON.stringify([state.library.id, state.library.name]);

/** The page of the notes on the library that is chosen. */
export function notesPage() {
  const { name } = state.library;
  shown = chosen();
  const title = h("h2.hello", { text: name === "default" ? t("notes") : t("notes.of", { library: name }), dir: "auto" });
  const save = h("button.button.small", { type: "button", hidden: true, on: { click: () => proof(t("notes")) } }, icon("seal"), t("notes.save"));
  const field = h("input.field", { type: "search", hidden: true, placeholder: t("notes.search"), "aria-label": t("notes.search"), autocomplete: "off", dir: "auto" });
  const list = h("ol.notes-list", { role: "list", "aria-label": t("notes") });
  field.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(show, 200);
  });
  page = h("div.column.notes-page", {}, h("div.notes-head", {}, title, save), writer(`new ${chosen()}`, "", t("notes.write"), add), field, list);
  look = show;
  show();
  return page;

  async function add(text) {
    const taken = await keepNote({ text });
    await show();
    return taken;
  }

  async function show() {
    const q = field.value.trim();
    try {
      const { notes } = await call("GET", `/api/notes?${new URLSearchParams({ library: state.library.name, q })}`);
      // Whoever writes to a note just now is left alone.
      if (q !== field.value.trim() || list.querySelector("textarea:focus")) return;
      save.hidden = !notes.length;
      field.hidden = notes.length < MANY && !q;
      fill(list, ...(notes.length ? notes.map(row) : [h("li.empty", { text: t(q ? "notes.none" : "notes.empty") })]));
    } catch (error) {
      toast(error.sentence, { bad: true });
    }
  }
}

/** A field for words of one's own and its button; it empties once they are kept, and until then they stay. */
function writer(id, text, label, keep, leave = null) {
  const field = h("textarea.field", { rows: "3", required: true, maxlength: LONGEST, placeholder: label, "aria-label": label, value: drafts.get(id) ?? text, dir: "auto" });
  const over = () => (drafts.delete(id), leave?.());
  const made = h("form.note-writer", {}, field, h("div.choices", {}, h("button.button.small.primary", { type: "submit", text: t("keep") }), leave && h("button.button.small", { type: "button", text: t("cancel"), on: { click: over } })));
  field.addEventListener("input", () => drafts.set(id, field.value));
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const sent = field.value;
    if (!(await keep(sent)) || field.value !== sent) return;
    field.value = "";
    over();
  });
  return made;
}

function row(note) {
  const { answer } = note;
  const name = note.title || note.text.split("\n", 1)[0].slice(0, 80);
  const said = h("div.answer.settled", { dir: "auto" });
  if (answer?.sentences.length) write(said, answer);
  else if (answer?.text) said.append(h("p", { text: answer.text }));
  const own = h("div");
  const tool = (sign, key, click) => iconButton(icon(sign), t(key, { name }), click, "bare.small");
  const tools = [
    tool("pen", "notes.edit", edit),
    tool("upload", "notes.source", () => sendText(markdown(note))),
    tool("seal", "notes.proof", () => proof(name, { id: note.id })),
    tool("trash", "notes.delete", remove),
  ];
  if (drafts.has(note.id)) field();
  else draw();
  return h(
    "li.note",
    {},
    h("div.note-head", {}, h("div.words", {}, answer?.text && h("h3", { text: note.title, dir: "auto" }), h("span.fine", { text: day(note.created) })), h("span.actions", {}, ...tools)),
    said.childElementCount ? said : null,
    answer && !answer.sentences.length ? h("ol.places", {}, ...answer.citations.map((c) => placeRow(answer.text ? c : { ...c, n: null }))) : null,
    own,
  );

  function draw() {
    fill(own, note.text && h("p.own", { text: note.text, dir: "auto" }));
  }

  function field() {
    fill(own, writer(note.id, note.text, t("notes.own"), keep, draw));
  }

  function edit() {
    if (!drafts.has(note.id)) drafts.set(note.id, note.text);
    field();
    own.querySelector("textarea").focus();
  }

  async function keep(text) {
    try {
      await call("PUT", `/api/notes/${encodeURIComponent(note.id)}`, { text });
    } catch (error) {
      toast(error.sentence, { bad: true });
      return false;
    }
    note.text = text;
    look();
    return true;
  }

  async function remove() {
    if (!(await confirm(t("notes.delete.ask"), t("notes.delete.tell", { name }), t("delete")))) return;
    try {
      await call("DELETE", `/api/notes/${encodeURIComponent(note.id)}`);
    } catch (error) {
      toast(error.sentence, { bad: true });
    }
    await look();
    page.querySelector("textarea").focus();
  }
}

/** A note as a source: what was verified or quoted of an answer, the words of a passage, and one's own. */
function markdown({ title, answer, text }) {
  const quoted = (answer?.sentences || []).filter((s) => s.support === "quoted").map((s) => s.text.replace(/^/gm, "> "));
  const verified = (answer?.sentences || []).filter((s) => s.support === "verified").map((s) => (isCode(s.sign) ? `${s.sign}\n${s.text}\n\`\`\`` : s.sign?.trim() && s.sign !== "|" ? `${s.sign} ${s.text}` : s.text));
  const quotes = answer && !answer.text ? answer.citations.map((c) => c.quote) : [];
  return [title && `# ${title}`, ...verified, ...quoted, ...quotes, text].filter(Boolean).join("\n\n");
}

on("libraries library", () => {
  if (!page?.isConnected) return;
  if (shown === chosen()) look();
  else page.replaceWith(notesPage());
});
