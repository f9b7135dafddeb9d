// One question and what becomes of it, on screen: from events as they come, or from what the server kept.

import { Again } from "./again.js";
import { told } from "./api.js";
import { editable } from "./edit.js";
import { announce, fill, h, iconButton, toast } from "./dom.js";
import { icon } from "./icons.js";
import { thumbs } from "./pictures.js";
import { saveProof } from "./proof.js";
import { rail } from "./rail.js";
import { refusal } from "./refusal.js";
import { lay, sentenceOf, tally } from "./sentence.js";
import { Trail } from "./trail.js";
import { thumbsOf } from "./verdict.js";
import { lasted, number, providerName, some } from "./words.js";

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
    this.status = "running";
    this.sentences = 0;
    this.seenNotes = new Set();
    this.again = new Again(this);
    this.trail = new Trail((step) => this.again.open(step));
    this.readAs = h("p.read-as.fine", { hidden: true, dir: "auto" });
    this.answer = h("div.answer", { dir: "auto" });
    this.asked = h("div.ask-consent", { hidden: true, role: "group", "aria-label": "Search the web?" });
    this.problem = h("div");
    this.notes = h("ul.notes", { "aria-label": "Notes" });
    this.tally = h("div");
    this.sources = h("div");
    this.foot = h("div.foot");
    this.why = h("div");
    this.next = h("div.next");
    this.element = h(
      "article.turn",
      { "aria-label": question.slice(0, 120) },
      h("div.question", {}, thumbs(pictures), editable(question, { ready: () => this.status !== "running" && !!this.place, replace: (asked) => this.doing.replace(this, asked), compare: (asked) => this.again.compare(asked) }), this.readAs),
      h("div.reply", {}, this.trail.element, this.answer, this.tally, this.asked, this.problem, this.notes, this.sources, this.foot, this.why, this.again.element, this.next),
    );
  }

  /** Take in one event of the run. */
  apply(event, live) {
    if (event.type === "start") {
      this.place = { thread: event.thread, turn: event.turn };
      this.trail.draw(event.graph);
      this.trail.begin(event.budget);
    } else if (event.type === "step") this.trail.add(event);
    else if (event.type === "sentence") this.sentence(event, live);
    else if (event.type === "note") this.note(event.text);
    else if (event.type === "consent") this.consent(event, live);
    else if (event.type === "consented") this.consented();
    else if (event.type === "answer") this.whole(event.answer, live);
    else if (event.type === "error") this.fail(event.problem);
    else if (event.type === "end") this.end(event.status, live);
  }

  /** Show what the server kept of a turn that has ended. */
  restore(kept) {
    this.trail.draw(kept.graph);
    this.context = kept.context;
    this.verdict = kept.verdict;
    for (const event of kept.trail || []) this.apply(event, false);
    if (kept.answer) this.whole(kept.answer, false);
    if (kept.problem) this.fail(kept.problem);
    this.end(kept.status, false);
  }

  sentence({ text, support, citations, sign }, live) {
    this.sentences += 1;
    lay(this.answer, sentenceOf(text, support, citations), sign);
    if (live) announce(text);
  }

  /** Show the answer object: it holds the same sentences, numbered for good. */
  whole(answer, live) {
    const byNumber = new Map(answer.citations.map((c) => [c.n, c]));
    const cited = (s) => s.citations.map((n) => byNumber.get(n)).filter(Boolean);
    if (answer.abstained) {
      fill(this.answer, refusal(answer, this.trail.steps, (knobs) => this.doing.again(this.question, this.pictures, knobs), this.question));
      if (live) announce(`No answer. ${answer.why}`);
    } else {
      fill(this.answer);
      for (const s of answer.sentences) lay(this.answer, sentenceOf(s.text, s.support, cited(s)), s.sign);
    }
    this.answer.classList.toggle("settled", !live);
    for (const note of answer.notes) this.note(note);
    if (answer.sentences.some((s) => s.support === "model") && answer.citations.length) {
      this.note("Sentences with a dotted line come from the model itself, not from your library.");
    }
    if (answer.dropped) this.note(`${some(answer.dropped, "sentence")} left out, because the evidence does not say ${answer.dropped === 1 ? "it" : "them"}.`);
    fill(this.tally, answer.abstained ? null : tally(answer.sentences));
    fill(this.sources, answer.abstained ? null : rail(answer.citations, this.answer));
    // With pictures, a note says how they were read.
    if (answer.question && answer.question !== this.question && !this.pictures.length) {
      this.readAs.textContent = `Read as: ${answer.question}`;
      this.readAs.hidden = false;
    }
    this.kept = answer;
    this.ended(answer);
    if (!answer.abstained) this.doing.next?.(this.next, answer);
  }

  note(text) {
    if (this.seenNotes.has(text)) return;
    this.seenNotes.add(text);
    this.notes.append(h("li", { dir: "auto" }, icon("info"), h("span", { text })));
  }

  /** Ask before anything is sent to a web search; the run waits as long as it takes. */
  consent({ query, provider }, live) {
    this.trail.wait();
    const button = (text, agreed, look) => h(`button.button.small${look}`, { type: "button", text, on: { click: () => this.doing.consent(agreed) } });
    const stay = button("Stay offline", false, "");
    fill(
      this.asked,
      h("p", {}, h("strong", { text: "Search the web?" }), " Your library does not answer this well enough. A search made from this question would be sent out:"),
      h("blockquote.sent", { text: query, dir: "auto" }),
      h("p.fine", { text: `It goes to ${providerName(provider)}, and the pages that it finds are read. Your files are not sent. You are asked once per question.` }),
      h("div.choices", {}, stay, button("Search the web", true, ".primary")),
    );
    this.asked.hidden = false;
    if (!live) return;
    announce("Search the web? The answer waits for your decision.");
    // Whoever writes on already is not torn away.
    if (!document.getElementById("question").value) stay.focus();
  }

  consented() {
    this.asked.hidden = true;
    this.trail.line.textContent = "Going on";
    this.trail.begin(this.trail.budget);
  }

  fail(problem) {
    fill(
      this.problem,
      h("div.problem", { role: "alert" }, icon("alert"), h("div", {}, h("p", { text: told(problem.title, problem.remedy) }), this.againButton())),
    );
  }

  end(status, live) {
    this.status = status;
    this.asked.hidden = true;
    this.trail.end(status, live);
    if (status === "cancelled") {
      const text = this.sentences ? "Stopped here. What stands above was checked; the answer is not complete." : "Stopped before anything was written.";
      fill(this.problem, h("div.stopped", {}, icon("stop"), h("span", { text }), this.againButton()));
      if (live) announce("Stopped.");
    }
    this.element.classList.add("over");
  }

  againButton() {
    return h("button.button.small", { type: "button", on: { click: () => this.doing.again(this.question, this.pictures) } }, icon("again"), "Ask again");
  }

  /** The last line: who wrote, what it took, and what can be done with the answer. */
  ended(answer) {
    const models = answer.usage.filter((u) => u.model);
    const sum = (key) => answer.usage.reduce((total, u) => total + u[key], 0);
    const small = answer.citations.length ? "Sentences of your sources, chosen by the small mind" : "Small mind";
    const writer = answer.mind === "small" ? small : answer.model;
    const spent = [
      writer,
      sum("calls") ? some(sum("calls"), "model call") : "no model call",
      sum("cached") ? `${number(sum("cached"))} from the cache` : "",
      sum("input_tokens") + sum("output_tokens") ? `${number(sum("input_tokens") + sum("output_tokens"))} tokens` : "",
      sum("cost") ? `cost ${sum("cost").toPrecision(2)}` : "",
    ];
    const { thumbs: judged, why } = thumbsOf(this.place, this.verdict);
    fill(this.why, why);
    fill(
      this.foot,
      usageTable(models, spent.filter(Boolean).join(" · ")),
      h("span.actions", {}, judged, iconButton(icon("copy"), "Copy the answer with its sources", () => this.copy(), "bare.small"), iconButton(icon("seal"), "Save as a proof: one file with the cited places and the hashes of their files", () => saveProof(this.place, this.question), "bare.small"), iconButton(icon("compare"), "Answer once more with other settings, beside this answer", () => this.again.open(), "bare.small"), iconButton(icon("again"), "Ask again", () => this.doing.again(this.question, this.pictures), "bare.small")),
    );
  }

  async copy() {
    const { text, citations } = this.kept;
    const rows = citations.map((c) => `[${c.n}] ${c.title}${c.locator.url ? `, ${c.locator.url}` : c.locator.page ? `, page ${c.locator.page}` : ""}`);
    try {
      await navigator.clipboard.writeText([text, ...(rows.length ? ["", ...rows] : [])].join("\n"));
      toast("Copied.");
    } catch {
      toast("The browser does not allow copying here.", { bad: true });
    }
  }
}

function usageTable(models, line) {
  if (!models.length) return h("p.usage.fine.number", { text: line, dir: "auto" });
  const head = ["Step", "Model", "Calls", "Tokens in", "Tokens out", "Time"];
  const rows = models.map((u) => [u.node, u.model, number(u.calls), number(u.input_tokens), number(u.output_tokens), lasted(u.seconds)]);
  return h(
    "details.usage.fine.number",
    {},
    h("summary", { text: line, dir: "auto" }),
    h("div.wide", {}, h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { text, scope: "col" })))), h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((text) => h("td", { text }))))))),
  );
}
