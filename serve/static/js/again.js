// A turn answered once more beside itself: a step switched off, a setting or the question changed; both answers side by side.

import { call, follow } from "./api.js";
import { fill, h, iconButton, uid } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { knobName, valueName } from "./knobs.js";
import { told } from "./said.js";
import { lay, tally, write } from "./sentence.js";
import { row } from "./settings.js";
import { runContext, state } from "./state.js";
import { Trail } from "./trail.js";
import { cost, lasted, number } from "./words.js";

export class Again {
  /** @param {import("./turn.js").Turn} turn the turn that stays as it is */
  constructor(turn) {
    this.turn = turn;
    this.stop = null;
    this.form = h("div");
    this.result = h("div");
    this.element = h("div.again", { hidden: true }, this.form, this.result);
  }

  /** Show what can be changed: of one step, which the run then begins with, or of the whole run. */
  open(step = null) {
    if (this.turn.status === "running" || !this.turn.place) return;
    this.changed = {};
    this.step = step;
    this.question = "";
    this.turn.trail.graph?.pick(step?.id);
    const off = step ? Object.entries(step.off) : [];
    const kept = { get: (name) => this.value(name), set: (name, value) => this.set(name, value) };
    const names = (step ? step.knobs : ["mode", "model", "max_hops", "sentences", "rerank", "expand_when", "check_by"]).filter((name) => name in state.form.schema.properties);
    this.rows = h("div.settings", {}, ...names.map((name) => row(name, kept)));
    this.wrong = h("p.wrong", { role: "alert" });
    this.go = h("button.button.primary.small", { type: "submit" }, icon("play"), t(step ? "again.go.step" : "again.go"));
    const title = uid("again");
    const form = h(
      "form.changes",
      { "aria-labelledby": title, novalidate: true },
      h("div.again-head", {}, h("h3", { id: title, text: step ? t("again.step", { name: step.name }) : t("again.title") }), iconButton(icon("close"), t("close"), () => this.close(), "bare.small")),
      h("p.fine", { text: step ? t("again.step.tell", { words: step.words }) : t("again.tell") }),
      step ? null : this.asked(),
      off.length ? this.without(off) : null,
      this.rows,
      this.wrong,
      h("div.choices", {}, this.go),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const bad = form.querySelector("[aria-invalid=true]");
      if (bad) bad.focus();
      else this.run();
    });
    fill(this.form, form);
    this.element.hidden = false;
    form.querySelector("textarea, input, select, button[type=submit]").focus({ preventScroll: true });
    form.scrollIntoView({ block: "nearest" });
  }

  /** Answer another question beside this turn. */
  compare(question) {
    this.open();
    this.form.querySelector("textarea").value = question;
    this.question = question;
    this.run();
  }

  close() {
    this.stop?.abort();
    this.element.hidden = true;
    fill(this.form);
    fill(this.result);
    this.turn.trail.graph?.pick("");
  }

  /** The question, to be written otherwise. */
  asked() {
    const id = uid("asked");
    const input = h("textarea.field", { id, rows: "2", dir: "auto" });
    input.value = this.turn.question;
    input.addEventListener("input", () => (this.question = input.value.trim() === this.turn.question ? "" : input.value.trim()));
    return h("div.knob.asked", {}, h("label", { for: id, text: t("composer.question") }), input);
  }

  /** A switch that leaves a step out. */
  without(off) {
    const id = uid("off");
    const input = h("input.switch", { id, type: "checkbox", role: "switch" });
    input.addEventListener("change", () => {
      this.rows.hidden = input.checked;
      for (const [name, value] of off) this.set(name, input.checked ? value : this.was(name));
    });
    return h("div.knob", {}, h("label", { for: id, text: t("again.off") }), input);
  }

  was(name) {
    const asked = this.turn.context || {};
    return name in asked ? asked[name] : state.form.defaults[name];
  }

  value(name) {
    return name in this.changed ? this.changed[name] : this.was(name);
  }

  set(name, value) {
    if (JSON.stringify(value) === JSON.stringify(this.was(name))) delete this.changed[name];
    else this.changed[name] = value;
  }

  async run() {
    this.stop?.abort();
    this.stop = new AbortController();
    this.wrong.textContent = "";
    const { thread, turn } = this.turn.place;
    const asked = this.turn.context || runContext();
    const context = { ...asked, ...this.changed };
    delete context.library;
    const sent = { context, ...(this.step ? { step: this.step.id } : {}), ...(this.question ? { question: this.question } : {}) };
    this.go.disabled = true;
    try {
      const begun = await call("POST", `/api/threads/${encodeURIComponent(thread)}/turns/${turn}/again`, sent);
      await this.watch(begun.run, this.stop.signal);
    } catch (error) {
      this.wrong.textContent = error.sentence || String(error.message);
    } finally {
      this.go.disabled = false;
    }
  }

  async watch(run, signal) {
    const side = new Side(this.name());
    const mine = new Side(t("again.mine"));
    if (this.turn.kept) mine.whole(this.turn.kept, this.turn.trail.steps);
    fill(this.result, h("div.compare", {}, mine.element, side.element));
    side.element.scrollIntoView({ block: "nearest" });
    for await (const event of follow(`/api/runs/${encodeURIComponent(run)}/events`, { signal })) {
      if (event.type === "consent") await call("POST", `/api/runs/${encodeURIComponent(run)}/resume`, { consent: false });
      side.apply(event);
    }
    if (signal.aborted) call("POST", `/api/runs/${encodeURIComponent(run)}/cancel`).catch(() => {});
    else side.against(mine);
  }

  /** What was changed, in words. */
  name() {
    const parts = Object.entries(this.changed).map(([name, value]) => `${knobName(name)}: ${shown(name, value)}`);
    if (this.question) parts.unshift(this.question);
    return parts.join(" · ") || t("again.same.settings");
  }
}

const shown = (name, value) => (typeof value === "boolean" ? t(value ? "again.yes" : "again.no") : [value ?? []].flat().map((v) => valueName(name, v)).join(", ") || t("settings.automatic"));

/** One of the two answers, with what it took. */
class Side {
  constructor(name) {
    this.trail = new Trail();
    this.answer = h("div.answer", { dir: "auto" });
    this.tally = h("div");
    this.spent = h("dl.spent.number");
    this.said = [];
    this.element = h("section.side-answer", { "aria-label": name }, h("h4", { text: name, dir: "auto" }), this.trail.element, this.answer, this.tally, this.spent);
  }

  apply(event) {
    if (event.type === "start") {
      this.trail.draw(event.graph);
      this.trail.begin(event.budget);
      this.trail.element.open = true;
      this.trail.drawn();
    } else if (event.type === "step") this.trail.add(event);
    else if (event.type === "sentence") lay(this.answer, event, event.citations);
    else if (event.type === "answer") this.whole(event.answer, this.trail.steps);
    else if (event.type === "error") fill(this.answer, h("p.wrong", { role: "alert", text: told(event.problem.title, event.problem.remedy) }));
    else if (event.type === "end") {
      this.trail.end(event.status, true);
      this.trail.element.open = false;
      this.element.classList.add("over");
    }
  }

  whole(answer, steps) {
    if (answer.abstained) fill(this.answer, h("p", { text: t("again.none", { why: told(answer.why) }), dir: "auto" }));
    else write(this.answer, answer);
    fill(this.tally, answer.abstained ? null : tally(answer.sentences));
    this.said = answer.abstained ? [] : answer.sentences.map((s) => s.text);
    const sum = (key) => answer.usage.reduce((total, u) => total + (u[key] || 0), 0);
    const seconds = steps.reduce((total, s) => total + s.seconds, 0);
    const rows = [[t("again.time"), lasted(seconds)], [t("again.calls"), number(sum("calls"))], [t("again.tokens"), `${number(sum("input_tokens"))} + ${number(sum("output_tokens"))}`], [t("again.cost"), cost(sum("cost"))], [t("again.steps"), number(steps.length)], [t("again.cited"), number(answer.citations.length)]];
    fill(this.spent, ...rows.filter(([, text]) => text).flatMap(([name, text]) => [h("dt", { text: name }), h("dd", { text })]));
    if (!this.trail.steps.length) this.trail.element.hidden = true;
  }

  /** Say in how far this answer is another one than the one beside it. */
  against(other) {
    const fresh = this.said.filter((text) => !other.said.includes(text)).length;
    const gone = other.said.filter((text) => !this.said.includes(text)).length;
    const text = fresh || gone ? [fresh && t("again.fresh", { n: fresh }), gone && t("again.gone", { n: gone })].filter(Boolean).join(", ") : t("again.same");
    this.element.append(h("p.difference.fine", { role: "status", text }));
  }
}
