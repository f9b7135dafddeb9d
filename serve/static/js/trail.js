// The steps of a run as they happen: a calm line that unfolds into what was decided, hop by hop.

import { h, fill, uid } from "./dom.js";
import { known, t } from "./i18n.js";
import { icon } from "./icons.js";
import { corpusName, host, hundredths, lasted, share, some } from "./words.js";

const ENDS = ["recall", "write", "answered"];
/** Whether a step of reasoning asks on. */
const asksOn = (data) => Boolean(data?.then) && !ENDS.includes(data.then);

const CORPORA = ["paragraph", "document", "image", "clip", "video"];
const PARTS = Object.fromEntries(["rewrite", "retrieve_clips", "merge", "judge", "look"].map((node) => [node, "retrieve_video"]));
const VERDICTS = { correct: "good", ambiguous: "warn", incorrect: "bad" };

export class Trail {
  constructor() {
    this.steps = [];
    this.line = h("span.now", { text: t("trail.begin") });
    this.side = h("span.fine.number");
    this.sign = h("span.spin");
    this.body = h("div.steps");
    const summary = h("summary", {}, this.sign, this.line, this.side, icon("down"));
    this.element = h("details.trail", {}, summary, this.body);
    this.began = performance.now();
    this.budget = {};
    this.spent = { calls: 0, tokens: 0 };
    this.ticking = 0;
  }

  /** Show what the run spends while it goes on, beside what it may spend. */
  begin(budget = {}) {
    this.budget = budget;
    this.ticking = setInterval(() => (this.element.isConnected ? this.tell() : this.rest()), 1000);
    this.tell();
  }

  /** Show the place of a question that waits until fewer answers are under way. */
  queue(place) {
    this.line.textContent = t("trail.queue", { n: place });
  }

  spend(spent) {
    this.spent = spent;
    // Whoever comes back to a run sees the seconds since it began.
    this.began = Math.min(this.began, performance.now() - spent.seconds * 1000);
    if (this.ticking) this.tell();
  }

  rest() {
    clearInterval(this.ticking);
    this.ticking = 0;
  }

  tell() {
    const { calls, tokens } = this.spent;
    const { seconds: most, model_calls, tokens: limit } = this.budget;
    const seconds = Math.round((performance.now() - this.began) / 1000);
    const took = seconds < 60 ? t("time.s", { n: seconds }) : lasted(seconds);
    const parts = [most > 0 ? t("trail.of", { n: took, limit: most }) : took];
    const spent = (what, n, of) => (of > 0 ? t(`trail.${what}.of`, { n, limit: of }) : t(`trail.${what}`, { n }));
    if (calls) parts.unshift(spent("calls", calls, model_calls), spent("tokens", tokens, limit));
    this.side.textContent = parts.join(" · ");
  }

  /** Show a step that has ended. */
  add(step) {
    this.steps.push(step);
    if (step.spent) this.spend(step.spent);
    let hop = this.body.lastElementChild;
    const n = Math.max(step.hop, 1);
    if (!hop || Number(hop.dataset.hop) !== n) {
      hop = h("ol.hop", { "aria-label": t("trail.round", { n }) });
      hop.dataset.hop = n;
      if (this.body.childElementCount) this.body.append(h("h3", { text: t("trail.round", { n }) }));
      this.body.append(hop);
    }
    // A search over several places, or over recordings, is one step to who reads it.
    const name = PARTS[step.node] || step.node;
    const last = [...hop.children].find((li) => li.dataset.name === name);
    if (step.node === "expand" && !step.data?.phrasings?.rewrites?.length) last?.remove();
    else if (!last) hop.append(row(step, name));
    else if (name !== "retrieve_video") last.append(detail(step));
    else if (["merge", "judge"].includes(step.node)) last.querySelector(".said").replaceWith(detail(step));
    if (this.sign.className === "spin") {
      const more = step.node === "reason" && asksOn(step.data);
      this.line.textContent = more ? t("trail.further", { query: step.data.query }) : known(`step.${step.node}.next`, step.next) || titleOf(step);
    }
  }

  /** Say that sentences come, in whichever step they are written. */
  write() {
    if (this.sign.className === "spin") this.line.textContent = known("step.reason.next");
  }

  /** Say that the run waits for its reader. */
  wait() {
    this.line.textContent = t("trail.wait");
    this.rest();
  }

  /** Say how it ended. */
  end(status, live) {
    this.rest();
    this.sign.replaceWith((this.sign = h("span.sign", { class: status === "done" ? "" : "bad" }, icon(status === "done" ? "steps" : "alert"))));
    const hops = new Set(this.steps.map((s) => Math.max(s.hop, 1))).size;
    const facts = [hops > 1 && some(hops, "round"), live && lasted((performance.now() - this.began) / 1000)];
    this.line.textContent = t(["cancelled", "failed"].includes(status) ? `trail.${status}` : "trail.done");
    this.side.textContent = facts.filter(Boolean).join(", ");
    this.element.hidden = !this.steps.length;
  }
}

const titleOf = (step) => known(`step.${step.node}`, step.title);

function row(step, name) {
  const by = known(`by.${step.by}`, corpusName(step.by));
  const recordings = name === "retrieve_video";
  const told = h("p.told", {}, h("span.title", { text: recordings ? t("step.retrieve_video") : titleOf(step) }));
  const meta = h("span.meta.fine.number", { text: `${by}${by ? ", " : ""}${lasted(step.seconds)}` });
  return h("li.step", { "data-name": name }, h("div.head", {}, told, name === "retrieve" || recordings ? null : meta), recordings ? said(t("trail.nothing")) : detail(step));
}

/** What a step decided: drawn where there is something to draw, else its summary. */
function detail(step) {
  const data = step.data || {};
  if (data.route && Object.keys(data.route.confidence).length) return routes(data.route);
  if (data.grade) return verdict(data.grade, step.summary);
  if (step.node === "expand" && data.phrasings?.rewrites?.length) return list(data.phrasings.rewrites);
  if (step.node === "search_web" && data.urls) {
    return h("div", {}, said(step.summary), list(data.urls.map(host)));
  }
  if (data.searches) {
    const where = t("trail.in", { where: data.corpora.map(corpusName).join(", ") });
    const found = said(t("trail.found", { where, places: data.places, n: data.searches }));
    return data.queries.length > 1 ? h("div", {}, found, list(data.queries)) : found;
  }
  const kept = data.items || data.strips || data.clips;
  if (kept && "of" in data) return said([t("trail.kept", { kept: kept.length, of: data.of }), data.newer ? t("trail.newer") : ""].filter(Boolean).join(", "));
  if (step.node === "reason") return reasoned(data, step.summary);
  return said(step.summary.replace(new RegExp(`^(${CORPORA.join("|")}): `), (_, corpus) => `${t("trail.in", { where: corpusName(corpus) })}: `));
}

const said = (text) => h("p.said", { text, dir: "auto" });

function list(texts) {
  return h("ul.phrasings", {}, ...texts.map((text) => h("li", { text, dir: "auto" })));
}

function routes(route) {
  const rows = Object.entries(route.confidence).sort((a, b) => b[1] - a[1]);
  return h(
    "ul.bars",
    { "aria-label": t("trail.routes") },
    ...rows.map(([label, p]) => {
      const fillBar = h("span.fill");
      fillBar.style.inlineSize = `${Math.max(1, Math.round(p * 100))}%`;
      const chosen = route.corpora.includes(label);
      const name = label === "none" ? t("trail.none") : corpusName(label);
      return h(
        "li",
        { class: chosen ? "chosen" : "" },
        h("span.label", { text: name }),
        h("span.bar-of", { "aria-hidden": "true" }, fillBar),
        h("span.number", { text: share(p) }),
        chosen && h("span.unseen", { text: t("trail.chosen") }),
      );
    }),
  );
}

function verdict(grade, summary) {
  const at = (value) => `${((Math.max(-1, Math.min(1, value)) + 1) / 2) * 100}%`;
  const scale = h("span.scale", { role: "img", "aria-label": summary });
  for (const [name, value] of [["low", grade.lower], ["high", grade.upper], ["best", grade.best]]) {
    const sign = h("span", { class: name, title: t(`trail.${name}`, { value: hundredths(value) }) });
    sign.style.insetInlineStart = at(value);
    scale.append(sign);
  }
  return h("div.verdict", { class: VERDICTS[grade.action] || "" }, h("span.word", { text: known(`trail.${grade.action}`, grade.action) }), scale, h("span.number.fine", { text: t("trail.best", { value: hundredths(grade.best) }) }));
}

function reasoned(data, summary) {
  const rows = [[t("trail.learnt"), data.learnt], [t("refusal.missing"), data.missing], [t("trail.next"), asksOn(data) ? data.query : ""]];
  const shown = rows.filter(([, text]) => text);
  if (!shown.length) return said(summary);
  const out = h("dl.reasoned", { id: uid("reason") });
  return fill(out, ...shown.flatMap(([name, text]) => [h("dt", { text: name }), h("dd", { text, dir: "auto" })]));
}
