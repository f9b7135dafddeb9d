// What stands on an empty conversation: what the library holds and can be asked, and its newest files; or where files go.

import { openAdd } from "./add.js";
import { call } from "./api.js";
import { ask } from "./conversation.js";
import { announce, fill, h, toast } from "./dom.js";
import { entities } from "./entities.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { openCitation, openSource } from "./panel.js";
import { unread } from "./quotes.js";
import { holds, on, state } from "./state.js";
import { day, groupOf, nameOf, number } from "./words.js";

let box = null;
let front = null; // what is told of the library that is on screen
let kept = { key: "", told: null };
let writing = null; // the library for which the chat model writes

/** The greeting, which follows the library that is chosen. */
export function welcome() {
  box = h("div.column.welcome");
  draw();
  return box;
}

function draw() {
  if (!box || !state.library) return;
  if (!holds(state.library).length) {
    kept = { key: keyOf(state.library), told: null };
    fill(
      box,
      h("h2.hello", { text: t("welcome") }),
      h("p.lead", { text: t(state.me?.marks ? "welcome.lead" : "welcome.lead.quotes") }),
      h("div.dropzone", {}, icon("upload"), h("p", { text: t("welcome.drop", { library: state.library.name }) }), h("button.button.primary", { type: "button", text: t("welcome.choose"), on: { click: () => openAdd() } }), h("p.fine", { text: whither() })),
    );
    return;
  }
  front = h("div.front");
  fill(
    box,
    h("h2.hello", { text: state.library.name === "default" ? t("welcome.what") : t("welcome.what.from", { library: state.library.name }), dir: "auto" }),
    front,
  );
  load();
}

const keyOf = ({ id, files, items }) => JSON.stringify([id, files || 0, items]);

/** Fetch the front page once for each state of a library. */
async function load() {
  const { name, id, items, files } = state.library;
  const key = keyOf(state.library);
  if (kept.key !== key) fill(front, h("p.waiting.fine", {}, h("span.spin"), t("welcome.reading")));
  try {
    const told = kept.key === key ? kept.told : await call("GET", `/api/overview?library=${encodeURIComponent(name)}`);
    const [before, had] = JSON.parse(kept.key || "[]");
    const added = before === id && files > had; // while this page looked on
    kept = { key, told };
    const spoken = items.clip ? await entities() : null;
    if (key !== keyOf(state.library)) return;
    fill(front, kinds(told.kinds), about(told), questions(told.questions), documents(told.documents), spoken);
    if ((told.writing || (added && state.me?.chat && !told.by)) && !writing) write();
  } catch {
    fill(front); // the question can be asked without it
  }
}

/** How many files there are of each kind. */
function kinds(counts) {
  const groups = {};
  for (const [kind, n] of Object.entries(counts)) groups[groupOf({ kind })] = (groups[groupOf({ kind })] || 0) + n;
  const rows = Object.entries(groups).sort((a, b) => b[1] - a[1]);
  return h("ul.held", { "aria-label": t("welcome.holds") }, ...rows.map(([name, n]) => h("li.tag", {}, h("span", { text: t(`kind.${name}`) }), h("span.number", { text: number(n) }))));
}

/**
 * Have the chat model introduce the library: after an upload, and else when it is asked to, because passages go to it.
 * The server writes on when this page is left; who comes back waits for the same overview.
 */
async function write() {
  const { id, name } = state.library;
  const mine = (writing = { id, name, stopped: false });
  load();
  try {
    const told = await call("POST", "/api/overview", { library: name });
    if (state.library.id === id) kept.told = told;
    announce(t("welcome.written", { model: told.by }));
  } catch (error) {
    if (kept.told) kept.told.writing = false;
    if (!mine.stopped) toast(error.sentence || String(error.message), { bad: true });
  }
  writing = null;
  load();
}

function stop() {
  writing.stopped = true;
  call("DELETE", `/api/overview?library=${encodeURIComponent(writing.name)}`).catch((error) => toast(error.sentence, { bad: true }));
}

/** What the chat model wrote of the library, that it is writing, or a button that has it write; without a chat model, what one is for. */
function about({ by, summary, spent }) {
  const model = state.me?.chat;
  if (by) return h("div.about", {}, h("p", { text: summary, dir: "auto" }), h("p.fine", { text: [t("welcome.written", { model: by }), spent.calls ? t("trail.tokens", { n: spent.input_tokens + spent.output_tokens }) : ""].filter(Boolean).join(" · ") }));
  if (!model) return state.me?.may_change ? unread(t("welcome.quotes")) : null;
  if (writing?.id === state.library.id) return h("p.waiting.fine", { role: "status" }, h("span.spin"), t("welcome.writing", { model }), h("button.button.small", { type: "button", text: t("composer.stop"), on: { click: stop } }));
  return h("div", {}, h("button.button.small", { type: "button", title: t("welcome.write.tell", { model }), on: { click: write } }, icon("pen"), t("welcome.write", { model })));
}

/** Questions as buttons that ask them, each beside the passage that answers it. */
function questions(rows) {
  if (!rows.length) return null;
  const title = t("welcome.answers");
  const items = rows.map((row) => {
    const place = h("button.cite.place", { type: "button", "aria-label": t("welcome.passage", { question: row.question }), title: row.title }, icon("file"));
    place.addEventListener("click", () => openCitation({ n: null, ...row }, place));
    return h("li", {}, h("button.suggested", { type: "button", text: row.question, dir: "auto", on: { click: () => ask(row.question) } }), place);
  });
  return h("section.suggestions", { "aria-label": title }, h("h3", { text: title }), h("ul", { role: "list" }, ...items));
}

function documents(rows) {
  if (!rows.length) return null;
  const title = t("welcome.newest");
  const items = rows.map(({ source, title: name, date }) => {
    const open = h("button.document", { type: "button" }, h("span", { text: nameOf({ title: name }), dir: "auto" }), date && h("time.fine", { datetime: date, text: day(date) }));
    open.addEventListener("click", () => openSource({ id: source, title: name, name }, state.library.name, open).catch((error) => toast(error.sentence || String(error.message), { bad: true })));
    return h("li", {}, open);
  });
  return h("section.documents", { "aria-label": title }, h("h3", { text: title }), h("ul", { role: "list" }, ...items));
}

/** Say where files go: that is never a matter of course. */
function whither() {
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(window.location.hostname);
  const where = local ? t("welcome.local") : t("welcome.kept", { host: window.location.host });
  return state.me?.chat ? `${where} ${t("welcome.chat", { model: state.me.chat })}` : where;
}

on("libraries library", () => box?.isConnected && draw());
