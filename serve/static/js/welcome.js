// What stands on an empty conversation: what is here, what can be asked, and when it was; or where files go.

import { openAdd } from "./add.js";
import { call } from "./api.js";
import { ask } from "./conversation.js";
import { announce, fill, h, toast } from "./dom.js";
import { entities } from "./entities.js";
import { locale, t } from "./i18n.js";
import { icon } from "./icons.js";
import { withFormulas } from "./maths.js";
import { openCitation, openSource } from "./panel.js";
import { placeRow } from "./refusal.js";
import { holds, on, state } from "./state.js";
import { watched } from "./watches.js";
import { day, placeBeside, plain } from "./words.js";

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
      h("div.dropzone", {}, icon("upload"), h("p", { text: t("welcome.drop", { library: state.library.name }) }), h("button.button.primary", { type: "button", text: t("welcome.choose"), on: { click: openAdd } }), h("p.fine", { text: whither() })),
    );
    return;
  }
  const tags = held.map((text) => h("li.tag", { text }));
  const front = h("div.front");
  fill(
    box,
    h("h2.hello", { text: state.library.name === "default" ? t("welcome.what") : t("welcome.what.from", { library: state.library.name }), dir: "auto" }),
    h("ul.held", { "aria-label": t("welcome.holds") }, ...tags),
    watched(),
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
    if (front.isConnected || box.contains(front)) fill(front, asks(told, () => write(front)), timeline(told.timeline), spoken);
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

/** What can be asked, and what two sources say otherwise; nothing where there is neither. */
function asks(told, rewrite) {
  const { by, spent } = told;
  const button = state.me?.chat && !by && h("button.button.small", { type: "button", title: t("welcome.write.tell", { model: state.me.chat }) }, icon("pen"), t("welcome.write", { model: state.me.chat }));
  button && button.addEventListener("click", () => ((button.disabled = true), button.prepend(h("span.spin")), rewrite()));
  const cost = by && [t("welcome.written", { model: by }), spent.calls ? t("trail.tokens", { n: spent.input_tokens + spent.output_tokens }) : ""].filter(Boolean).join(" · ");
  const parts = [questions(told.questions), button && h("div", {}, button), cost && h("p.fine", { text: cost }), differing(told.differing)].filter(Boolean);
  return parts.length ? h("div.asks", {}, ...parts) : null;
}

/** Questions as buttons that ask them, each beside the passage that answers it. */
export function questions(rows, title = t("welcome.answers")) {
  if (!rows.length) return null;
  const items = rows.map((row) => {
    const place = h("button.cite.place", { type: "button", "aria-label": t("welcome.passage", { question: row.question }), title: row.title }, icon("file"));
    place.addEventListener("click", () => openCitation({ n: null, ...row }, place));
    return h("li", {}, h("button.suggested", { type: "button", text: row.question, dir: "auto", on: { click: () => ask(row.question) } }), place);
  });
  return h("section.suggestions", { "aria-label": title }, h("h3", { text: title }), h("ul", { role: "list" }, ...items));
}

function timeline(rows) {
  if (rows.length < 2) return null;
  const items = rows.map((row) => {
    const dated = h("time", { datetime: row.date, text: label(row) });
    const words = row.precise === "document" ? [h("span", {}, t("welcome.dated"))] : [h("span", { dir: "auto" }, ...withFormulas(plain(row.quote)))];
    const open = h("button.event", { type: "button" }, dated, h("span.words", {}, ...words, h("span.fine", { text: row.precise === "document" ? row.title : placeBeside(row.title, row.locator), dir: "auto" })));
    open.addEventListener("click", () => (row.source ? openSource({ id: row.source, title: row.title, name: row.title }, state.library.name, open).catch(() => {}) : openCitation({ n: null, ...row }, open)));
    return h("li", { class: row.precise }, open);
  });
  return h("section.timeline", { "aria-label": t("welcome.dates") }, h("h3", { text: t("welcome.dates") }), h("ol", { role: "list" }, ...items));
}

/** What two sources say otherwise, each with both places. */
function differing(rows) {
  if (!rows.length) return null;
  const items = rows.map((row) => h("li", {}, h("p", { text: row.question, dir: "auto" }), h("ol.places", {}, ...row.places.map(placeRow))));
  return h("section.differing", { "aria-label": t("welcome.differing") }, h("h3", { text: t("welcome.differing") }), h("ul", { role: "list" }, ...items));
}

function label({ date, precise }) {
  if (precise === "year") return date.slice(0, 4);
  if (precise === "month") return new Date(date).toLocaleDateString(locale, { month: "short", year: "numeric" });
  return day(date);
}

/** Say where files go: that is never a matter of course. */
function whither() {
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(window.location.hostname);
  const where = local ? t("welcome.local") : t("welcome.kept", { host: window.location.host });
  return state.me?.chat ? `${where} ${t("welcome.chat", { model: state.me.chat })}` : where;
}

on("libraries library", () => box?.isConnected && draw());
