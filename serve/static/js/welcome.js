// What stands on an empty conversation: what is here, what can be asked, and the newest documents; or where files go.

import { openAdd } from "./add.js";
import { call } from "./api.js";
import { ask } from "./conversation.js";
import { announce, fill, h, toast } from "./dom.js";
import { entities } from "./entities.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { openCitation, openSource } from "./panel.js";
import { holds, on, state } from "./state.js";
import { day, nameOf } from "./words.js";

let box = null;
let kept = { key: "", told: null };

/** The greeting, which follows the library that is chosen. */
export function welcome() {
  box = h("div.column.welcome");
  draw();
  return box;
}

function draw() {
  if (!box || !state.library) return;
  const held = holds(state.library);
  if (!held.length) {
    fill(
      box,
      h("h2.hello", { text: t("welcome") }),
      h("p.lead", { text: t("welcome.lead") }),
      h("div.dropzone", {}, icon("upload"), h("p", { text: t("welcome.drop", { library: state.library.name }) }), h("button.button.primary", { type: "button", text: t("welcome.choose"), on: { click: () => openAdd() } }), h("p.fine", { text: whither() })),
    );
    return;
  }
  const tags = held.map((text) => h("li.tag", { text }));
  const front = h("div.front");
  fill(
    box,
    h("h2.hello", { text: state.library.name === "default" ? t("welcome.what") : t("welcome.what.from", { library: state.library.name }), dir: "auto" }),
    h("ul.held", { "aria-label": t("welcome.holds") }, ...tags),
    front,
  );
  load(front);
}

/** Fetch the front page once for each state of a library. */
async function load(front) {
  const { name, id, items, files } = state.library;
  const key = JSON.stringify([id, files, items]);
  if (kept.key !== key) fill(front, h("p.waiting.fine", {}, h("span.spin"), t("welcome.reading")));
  try {
    const told = kept.key === key ? kept.told : await call("GET", `/api/overview?library=${encodeURIComponent(name)}`);
    kept = { key, told };
    const spoken = items.clip ? await entities() : null;
    if (front.isConnected || box.contains(front)) fill(front, asks(told, () => write(front)), documents(told.documents), spoken);
  } catch {
    fill(front); // the question can be asked without it
  }
}

/** Have the chat model write the questions: only when it is asked to, because passages go to it. */
async function write(front) {
  try {
    const told = await call("POST", "/api/overview/questions", { library: state.library.name });
    kept = { ...kept, told };
    announce(t("welcome.written", { model: told.by }));
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
  load(front);
}

/** Questions that the chat model wrote, or a button that has it write them; nothing where there is no chat model. */
function asks(told, rewrite) {
  const { by, spent } = told;
  const button = state.me?.chat && !by && h("button.button.small", { type: "button", title: t("welcome.write.tell", { model: state.me.chat }) }, icon("pen"), t("welcome.write", { model: state.me.chat }));
  button && button.addEventListener("click", () => ((button.disabled = true), button.prepend(h("span.spin")), rewrite()));
  const cost = by && [t("welcome.written", { model: by }), spent.calls ? t("trail.tokens", { n: spent.input_tokens + spent.output_tokens }) : ""].filter(Boolean).join(" · ");
  const parts = [questions(told.questions), button && h("div", {}, button), cost && h("p.fine", { text: cost })].filter(Boolean);
  return parts.length ? h("div.asks", {}, ...parts) : null;
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
