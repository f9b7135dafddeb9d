// A question that was not answered: what was searched, what lay nearest, what is missing, and what can be done next.

import { chip } from "./cite.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { withFormulas } from "./maths.js";
import { openCitation } from "./panel.js";
import { holds, onlySources, state } from "./state.js";
import { noteInWords } from "./problem.js";
import { pickFiles } from "./upload.js";
import { placeBeside, plain, providerName, titleOf } from "./words.js";

const MATTERS = { paragraph: "text", document: "text", image: "pictures", clip: "recordings", video: "recordings" }; // `matter.` before it in words
const NEAREST = /^.*[”“](?:; |$)/s; // the words of the place that came closest, before what else there is to say
const WIDER = { sources: [], corpora: [], top_k: 20, max_hops: 5 };

/**
 * What stands in place of an answer.
 * @param {object} answer the answer object; `nearest` are places beside those that it cites
 * @param {object[]} steps the steps of the run
 * @param {(knobs: object) => void} again asks the same question with other settings
 * @param {string} question the question as it was asked
 */
export function refusal(answer, steps, again, question) {
  const places = [...answer.citations, ...(answer.nearest || [])];
  const whole = answer.why ? noteInWords(answer.why_kind ?? { text: answer.why }) : answer.text;
  const why = answer.kind === "closest" && places.length ? whole.replace(NEAREST, "") : whole; // the list of places says it as well
  const facts = [[t("refusal.searched"), searched(steps)], [t("refusal.missing"), missing(steps)]].filter(([, text]) => text);
  return h(
    "div.abstained",
    {},
    h("p.head", { text: t(answer.kind === "closest" ? "refusal.closest" : "refusal.nothing") }),
    why && h("p", { text: sentenceCase(why), dir: "auto" }),
    facts.length && h("dl.reasoned", {}, ...facts.flatMap(([name, text]) => [h("dt", { text: name }), h("dd", { text, dir: "auto" })])),
    places.length && h("p.closest.fine", { text: t("refusal.near") }),
    places.length && h("ol.places", { "aria-label": t("refusal.places") }, ...places.map(placeRow)),
    h("div.choices", {}, ...choices(again, question, steps.some((s) => s.node === "search_web" && s.data?.urls))),
  );
}

/** A place with its words, as a row that opens it. */
function placeRow(place) {
  const open = h("button.words", { type: "button" }, h("span.title", { text: titleOf(place), dir: "auto" }), h("span.place.fine", { text: placeBeside(place.title || "", place.locator), dir: "auto" }), h("span.said", { dir: "auto" }, ...withFormulas(plain(place.quote))));
  open.addEventListener("click", () => openCitation({ n: null, ...place }, open));
  return h("li.source", {}, place.n ? h("span.ns", {}, chip(place)) : null, open);
}

function choices(again, question, webSearched) {
  const button = (sign, text, click, title) => h("button.button.small", { type: "button", title, on: { click } }, icon(sign), text);
  const add = button("upload", t("refusal.add"), pickFiles, t("refusal.add.tell"));
  if (!holds(state.library).length) return [add];
  const web = !webSearched && state.me?.web && ["agent", "crag"].includes(state.graph);
  return [
    button("pen", t("refusal.rephrase"), () => rephrase(question), t("refusal.rephrase.tell")),
    button("again", t(onlySources().length ? "refusal.all" : "refusal.wider"), () => again(WIDER), t("refusal.wider.tell")),
    web && button("globe", t("refusal.web"), () => again({ web: "ask" }), t("refusal.web.tell", { provider: providerName(state.me.web) })),
    add,
  ].filter(Boolean);
}

function rephrase(question) {
  const field = document.getElementById("question");
  field.value = question;
  field.dispatchEvent(new Event("input"));
  field.focus();
  field.select();
}

function searched(steps) {
  const matters = new Set(steps.flatMap((s) => s.data?.corpora || []).map((corpus) => (MATTERS[corpus] ? t(`matter.${MATTERS[corpus]}`) : corpus)));
  if (!matters.size) return "";
  const rounds = new Set(steps.map((s) => Math.max(s.hop, 1))).size;
  const told = [...matters].join(", ");
  return rounds > 1 ? t("refusal.rounds", { matters: told, n: rounds }) : told;
}

/** What the model wrote last that it still missed. */
const missing = (steps) => steps.filter((s) => s.by !== "local" && s.data?.missing).at(-1)?.data.missing;

function sentenceCase(text) {
  const end = /[.!?。][”“]?$/.test(text) ? "" : /\p{Script=Han}$/u.test(text) ? "。" : ".";
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}${end}`;
}
