// One question and what becomes of it, on screen: from events as they come, or from what the server kept.

import { editable } from "./edit.js";
import { announce, copyText, fill, h, iconButton } from "./dom.js";
import { labelOf, numbered, where } from "./cite.js";
import { known, t } from "./i18n.js";
import { icon } from "./icons.js";
import { thumbs } from "./pictures.js";
import { found, rail } from "./rail.js";
import { refusal } from "./refusal.js";
import { inWords, noteInWords } from "./problem.js";
import { lay, remark, tally, write } from "./sentence.js";
import { state } from "./state.js";
import { Trail } from "./trail.js";
import { thumbsOf } from "./verdict.js";
import { filmButton } from "./view_media.js";
import { cost, lasted, number, providerName, titleOf } from "./words.js";

const SOON = 300; // milliseconds that an answer may take without what was found being shown before

const UNREAD = ["quoted", "quoted_set_up"]; // notes that stand above the quotes already

export class Turn {
  /**
   * @param {string} question what was asked
   * @param {string[]} pictures addresses of the pictures that went with it
   * @param {{again: (question: string, pictures: string[], knobs?: object) => void, consent: (agreed: boolean) => void}} doing what its buttons do
   */
  constructor(question, pictures, doing) {
    this.question = question;
    this.pictures = pictures;
    this.doing = doing;
    this.place = null; // {thread, turn} on the server
    this.run = null; // id of the run that answers it
    this.status = "running";
    this.cited = new Map(); // the citations of each sentence, by its number
    this.places = new Map(); // the numbers of the places that they name
    this.seenNotes = new Set();
    this.trail = new Trail();
    this.readAs = h("p.read-as.fine", { hidden: true, dir: "auto" });
    this.answer = h("div.answer", { dir: "auto" });
    this.asked = h("div.ask-consent", { hidden: true, role: "group", "aria-label": t("turn.consent"), on: { keydown: writeOn } });
    this.problem = h("div");
    this.notes = h("ul.notes", { "aria-label": t("turn.notes") });
    this.tally = h("div");
    this.sources = h("div");
    this.foot = h("div.foot");
    this.why = h("div");
    this.asking = editable(question, { ready: () => this.status !== "running" && !!this.place, replace: (asked) => this.doing.replace(this, asked) });
    this.element = h(
      "article.turn",
      { "aria-label": question.slice(0, 120) },
      h("div.question", {}, thumbs(pictures), this.asking.box, this.readAs),
      h("div.reply", {}, this.trail.element, this.answer, this.tally, this.asked, this.problem, this.notes, this.sources, this.foot, this.why),
    );
  }

  /** Take in one event of the run. */
  apply(event, live) {
    if (event.type === "start") {
      this.place = { thread: event.thread, turn: event.turn };
      this.run = event.run;
      this.trail.begin(event.budget);
    } else if (event.type === "resumed") this.resumed();
    else if (event.type === "queue") this.trail.queue(event.place);
    else if (event.type === "step") this.trail.add(event);
    else if (event.type === "found") this.found(event.places);
    else if (event.type === "sentence") this.sentence(event, live);
    else if (event.type === "mark") this.mark(event, live);
    else if (event.type === "note") this.note(event);
    else if (event.type === "consent") this.consent(event, live);
    else if (event.type === "consented") this.consented();
    else if (event.type === "answer") this.whole(event.answer, live);
    else if (event.type === "error") this.fail(event.problem);
    else if (event.type === "end") this.end(event.status, live);
  }

  /** Show what the server kept of a turn that has ended. */
  restore(kept) {
    this.verdict = kept.verdict;
    for (const event of kept.trail || []) this.apply(event, false);
    if (kept.answer) this.whole(kept.answer, false);
    if (kept.problem) this.fail(kept.problem);
    this.end(kept.status, false);
  }

  /** Show what was found while the answer is on its way. */
  found(places) {
    clearTimeout(this.showing);
    this.showing = setTimeout(() => this.status === "running" && !this.kept && !this.cited.size && fill(this.sources, found(places)), SOON);
  }

  sentence(event, live) {
    if (this.again) this.afresh();
    this.cite(event);
    lay(this.answer, event, event.citations);
    if (live) this.trail.write();
    if (live) announce(event.text);
  }

  /** Mark a sentence that is shown already; only what does not hold is read out at once. */
  mark(event, live) {
    this.cite(event);
    const text = remark(this.answer, event);
    this.marked = true;
    if (live && text && event.support !== "verified") announce(t(`mark.${event.support}`, { text, says: event.says }));
  }

  /** Show what the sentences so far rest on. */
  cite({ n, citations, support }) {
    this.cited.set(n, citations);
    if (support === "quoted") return;
    const held = [...new Map([...this.cited.values()].flat().map((c) => [c.n, c])).values()];
    numbered([...held, ...citations], this.places);
    queueMicrotask(() => this.kept || fill(this.sources, rail(held, this.answer))); // once the sentence is laid
  }

  /** Show the answer object: it holds the same sentences, numbered for good. */
  whole(answer, live) {
    const said = answer.sentences.flatMap((s) => [...s.citations, ...(s.against || [])]);
    const order = (c) => (said.includes(c.n) ? said.indexOf(c.n) : said.length);
    answer.citations.sort((a, b) => order(a) - order(b)); // as they are read, and not as the check found them
    if (answer.kind === "answer") numbered(answer.citations);
    if (answer.abstained) {
      fill(this.answer, refusal(answer, this.trail.steps, (knobs) => this.doing.again(this.question, this.pictures, knobs), this.question));
      if (live) announce(t("turn.none", { why: noteInWords(answer.why_kind ?? { text: answer.why }) }));
    } else write(this.answer, answer);
    this.answer.classList.toggle("settled", !live);
    for (const note of answer.note_kinds ?? answer.notes.map((text) => ({ text }))) this.note(note);
    if (answer.sentences.some((s) => s.support === "model") && answer.citations.length) {
      this.note({ text: t("turn.dotted") });
    }
    // Quotes are their own sources, and no check has anything to say of them.
    const bare = answer.abstained || answer.kind === "quotes";
    fill(this.tally, bare ? null : tally(answer.sentences));
    if (live && this.marked) announce([...this.tally.querySelectorAll("li")].map((li) => li.textContent).join(", "));
    fill(this.sources, bare ? null : rail(answer.citations, this.answer));
    // With pictures, a note says how they were read.
    if (answer.question && answer.question !== this.question && !this.pictures.length) {
      this.readAs.textContent = t("turn.readas", { question: answer.question });
      this.readAs.hidden = false;
    }
    this.kept = answer;
    this.ended(answer);
  }

  note(note) {
    if (this.seenNotes.has(note.text) || UNREAD.includes(note.key)) return;
    this.seenNotes.add(note.text);
    this.notes.append(h("li", { dir: "auto" }, icon("info"), h("span", { text: noteInWords(note) })));
  }

  /** Ask before anything is sent to a web search; the run waits as long as it takes. */
  consent({ query, provider }, live) {
    this.trail.wait();
    const button = (text, agreed, look) => h(`button.button.small${look}`, { type: "button", text, on: { click: () => this.doing.consent(agreed) } });
    const stay = button(t("turn.consent.no"), false, "");
    fill(
      this.asked,
      h("p", {}, h("strong", { text: t("turn.consent") }), " ", t("turn.consent.why")),
      h("blockquote.sent", { text: query, dir: "auto" }),
      h("p.fine", { text: t("turn.consent.tell", { provider: providerName(provider) }) }),
      h("div.choices", {}, stay, button(t("turn.consent.yes"), true, ".primary")),
    );
    this.asked.hidden = false;
    if (!live) return;
    announce(t("turn.consent.wait"));
    // Whoever writes on already is not torn away.
    if (!document.getElementById("question").value) stay.focus();
    else this.asked.scrollIntoView({ block: "nearest" });
  }

  /** The server was killed, and another one goes on. If it writes again, that takes the place of what was written. */
  resumed() {
    this.again = true;
    this.trail.line.textContent = t("trail.resumed");
  }

  /** Let go of what was written before. */
  afresh() {
    this.again = this.marked = false;
    fill(this.answer);
    fill(this.notes);
    this.cited.clear();
  }

  consented() {
    this.asked.hidden = true;
    this.trail.line.textContent = t("trail.on");
    this.trail.begin(this.trail.budget);
  }

  fail(problem) {
    fill(
      this.problem,
      h("div.problem", { role: "alert" }, icon("alert"), h("div", {}, h("p", { text: inWords(problem) }), this.againButton())),
    );
  }

  end(status, live) {
    this.status = status;
    if (!this.kept && !this.cited.size) fill(this.sources); // what was found for an answer that never came
    this.asked.hidden = true;
    this.trail.end(status, live);
    if (status === "cancelled") {
      const text = t(this.cited.size ? "turn.stopped" : "turn.stopped.empty");
      fill(this.problem, h("div.stopped", {}, icon("stop"), h("span", { text }), this.againButton()));
      if (live) announce(t("turn.stopped.told"));
    }
    this.element.classList.add("over");
  }

  againButton() {
    return h("button.button.small", { type: "button", on: { click: () => this.doing.again(this.question, this.pictures) } }, icon("again"), t("again"));
  }

  /** The last line: who wrote, what it took, and what can be done with the answer. */
  ended(answer) {
    const models = answer.usage.filter((u) => u.model);
    const sum = (key) => answer.usage.reduce((total, u) => total + u[key], 0);
    const tokens = sum("input_tokens") + sum("output_tokens");
    const writer = answer.mode === "extractive" ? t("turn.extractive") : answer.model;
    const spent = [
      writer,
      sum("calls") ? t("trail.calls", { n: sum("calls") }) : t("turn.nocall"),
      sum("cached") ? t("turn.cached", { n: sum("cached") }) : "",
      tokens ? t("trail.tokens", { n: tokens }) : "",
      sum("cost") ? t("turn.cost", { value: cost(sum("cost")) }) : "",
    ];
    const { thumbs: judged, why } = thumbsOf(this.place, this.verdict);
    fill(this.why, why);
    fill(
      this.foot,
      usageTable(models, spent.filter(Boolean).join(" · ")),
      h("span.actions", {}, judged, iconButton(icon("copy"), t("turn.copy"), () => this.copy(), "bare.small"), filmButton(answer, this.question), iconButton(icon("again"), t("again"), () => this.doing.again(this.question, this.pictures), "bare.small")),
    );
  }

  async copy() {
    const { citations } = this.kept;
    const label = new Map(citations.map((c) => [String(c.n), labelOf(c)]));
    const own = (signs) => [...new Set(signs.match(/\d+/g).map((n) => label.get(n) || n))].map((n) => `[${n}]`).join("");
    const text = this.kept.text.replace(/(?:\[\d+\])+/g, own);
    const rows = [...new Map(citations.map((c) => [labelOf(c), `[${labelOf(c)}] ${titleOf(c)}, ${c.locator.url || where(c)}`])).values()];
    await copyText([text, ...(rows.length ? ["", ...rows] : [])].join("\n"));
  }
}

/** Whoever was about to write when a question for consent took the focus writes on: no letter is lost, or a command. */
function writeOn(event) {
  if (event.key.length > 1 || event.key === " " || event.ctrlKey || event.metaKey || event.altKey) return;
  event.stopPropagation();
  document.getElementById("question").focus();
}

function usageTable(models, line) {
  if (!models.length) return h("p.usage.fine.number", { text: line, dir: "auto" });
  const head = ["step", "model", "calls", "in", "out", "time"].map((name) => t(`usage.${name}`));
  const rows = models.map((u) => [known(`step.${u.node}`, u.node), u.model, number(u.calls), number(u.input_tokens), number(u.output_tokens), lasted(u.seconds)]);
  return h(
    "details.usage.fine.number",
    {},
    h("summary", { text: line, dir: "auto" }),
    h("div.wide", {}, h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { text, scope: "col" })))), h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((text) => h("td", { text }))))))),
  );
}
