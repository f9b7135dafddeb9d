// One sentence on screen: its words, its mark, which may come after it, and the numbers of what it rests on.

import { chip } from "./cite.js";
import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { inline } from "./markdown.js";
import { layQuote } from "./quotes.js";

const GLUE = "\u2060"; // keeps a number on the line of the word before it

const TIMED = /^\d+:\d\d/;
const ENDS = /[.!?…:;。！？：；]["'”’“»)\]]*\s*$/u;

/** What becomes of a sentence in its check, and its sign; `state.` before it in words. */
const STATES = { verified: "check", follows: "check", computed: "check", disputed: "alert", contradicted: "alert", unverified: "question", model: "spark", unchecked: "question", quoted: "file", pending: "again" };
const QUIET = ["verified", "pending"]; // a sign alone on screen, its words for a screen reader
const LOUD = ["follows", "computed", "disputed", "contradicted", "unverified"];
const told = new WeakMap(); // what each element on screen was made from
const stateOf = (support) => (STATES[support] ? support : "unchecked");

/** A sentence with its state and its numbers. */
function sentenceOf({ text, support, sign = "", says = "", against = [] }, citations) {
  const state = stateOf(support);
  const means = t(`state.${state}.means`);
  const chips = citations.map((citation) => chip(citation, against.includes(citation.n) ? "against" : state));
  const loud = LOUD.includes(state);
  const flag = loud || QUIET.includes(state) ? h("span.flag", { title: means }, icon(STATES[state]), loud ? t(`state.${state}`) : h("span.unseen", { text: t(`state.${state}`) })) : null;
  const source = says && h("span.says", { dir: "auto" }, t("state.says"), " ", h("q", { text: says }));
  const own = state === "model" ? h("span.unseen", { text: ` (${t("state.model")})` }) : null;
  const made = h("span.sentence", { class: state, title: QUIET.includes(state) ? null : means }, isCode(sign) ? h("pre.said", {}, h("code", { text })) : h(state === "contradicted" ? "del.said" : "span.said", {}, inline(text)), own, flag, source, chips.length ? h("span.cites", {}, GLUE, ...chips) : null);
  made.dataset.ns = citations.map((c) => c.n).join(" ");
  // A line out of a list, a form or a recording would run into the sentence after it.
  if (!ENDS.test(text) || TIMED.test(text)) made.classList.add("line-of");
  return made;
}

/** Whether the sign of a sentence is the fence of code. */
const isCode = (sign) => Boolean(sign?.startsWith("```"));

/** Put a sentence after those before it: into their paragraph, on a line of its own, into their list or table, as a card. */
export function lay(answer, said, citations) {
  if (said.support === "quoted" && citations.length) {
    layQuote(answer, said, citations);
    return;
  }
  if (said.key === "few") {
    answer.append(h("p.few", { text: t("quotes.few") }));
    return;
  }
  const { sign } = said;
  const sentence = drawn(said, citations);
  if (!sign?.trim() || isCode(sign)) {
    // The end of a line, or of a paragraph; blocks make their own.
    if (sign && !isCode(sign) && answer.lastChild) answer.append(h("span.break", { class: sign.length > 1 ? "wide" : null }));
    answer.append(" ", sentence);
    return;
  }
  const kind = sign === "|" ? "table" : sign === "-" ? "ul" : "ol";
  let block = answer.lastChild;
  if (block?.localName !== kind) answer.append((block = h(kind, { start: kind === "ol" ? parseInt(sign, 10) : null })));
  block.append(kind === "table" ? sentence : h("li", {}, sentence));
}

/** A sentence, or the row of a table that it is. */
function drawn(said, citations) {
  const sentence = sentenceOf(said, citations);
  const made = said.sign === "|" ? rowOf(sentence) : sentence;
  if (said.n) made.dataset.n = said.n;
  told.set(made, said);
  return made;
}

/** Give a sentence that is on screen its mark, and what decided it; returns its text, or nothing where there is none. */
export function remark(answer, mark) {
  const old = [...answer.querySelectorAll("[data-n]")].find((one) => one.dataset.n === String(mark.n));
  if (!old) return "";
  const said = { ...told.get(old), support: mark.support, says: mark.says, against: mark.against };
  old.replaceWith(drawn(said, mark.citations));
  return said.text;
}

/** Write all sentences of an answer into an element, each with what it rests on. */
export function write(box, { sentences, citations }) {
  const byNumber = new Map(citations.map((c) => [c.n, c]));
  fill(box);
  for (const s of sentences) lay(box, s, [...new Set([...s.citations, ...(s.against || [])])].map((n) => byNumber.get(n)).filter(Boolean));
}

/** A row of a table is one sentence, cited in its last cell. */
function rowOf(sentence) {
  const [said, ...rest] = sentence.children;
  const cells = said.textContent.split("|").map((text) => h("td", {}, inline(text.trim())));
  cells.at(-1).append(...rest);
  const row = h("tr", { class: sentence.className }, ...cells);
  row.dataset.ns = sentence.dataset.ns;
  return row;
}

/** How many sentences of an answer are in which state. */
export function tally(sentences) {
  const judged = sentences.filter((s) => s.support !== "unchecked"); // what only frames bears no mark
  const counted = judged.length ? judged : sentences;
  const counts = Object.keys(STATES).map((state) => [state, counted.filter((s) => stateOf(s.support) === state).length]);
  return h(
    "ul.tally.fine.number",
    { "aria-label": t("tally") },
    ...counts.filter(([, n]) => n).map(([state, n]) => h(`li.${state}`, { title: t(`state.${state}.means`) }, icon(STATES[state]), t(`tally.${state}`, { n }))),
  );
}
