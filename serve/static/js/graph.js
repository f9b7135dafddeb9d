// The graph that answers, drawn: every step lights up as it ends, and the way that the run took is marked.

import { h } from "./dom.js";
import { known, t } from "./i18n.js";
import { knob, state } from "./state.js";
import { lasted } from "./words.js";

const [WIDE, HIGH, GAP_X, GAP_Y] = [100, 30, 8, 14]; // pixels of a step, and between steps
/** What comes after a step that has several ways on, by what it has decided. */
const NEXT = {
  plan: () => ["retrieve", "retrieve_video"],
  grade: ({ grade }) => (knob("web") === "off" || grade?.action === "correct" ? ["refine"] : grade?.action === "incorrect" ? ["search_web"] : ["refine", "search_web"]),
  reason: ({ then }) => (then === "more" ? ["route", "expand"] : [then]),
};
const INNER = { rewrite: "retrieve_video", retrieve_clips: "retrieve_video", merge: "retrieve_video", judge: "retrieve_video", look: "retrieve_video" };

export class Graph {
  /** @param {string} name of the graph */
  constructor(name) {
    const drawn = state.graphs.find((g) => g.name === name) || state.graphs[0];
    this.steps = new Map(drawn.steps.map((s) => [s.id, { ...s, name: known(`step.${s.id}.name`, s.name), words: known(`step.${s.id}`, s.words), count: 0, seconds: 0 }]));
    this.last = "";
    this.ended = []; // ids of steps, in the order of their ends
    const places = layout(drawn);
    this.places = places;
    const size = [...places.values()].reduce(([w, y], p) => [Math.max(w, p.x + WIDE), Math.max(y, p.y + HIGH)], [0, 0]);
    this.lines = new Map(drawn.edges.filter(([a, b]) => places.has(a) && places.has(b)).map(([a, b]) => [`${a} ${b}`, line(places.get(a), places.get(b))]));
    this.nodes = new Map([...this.steps.values()].map((s) => [s.id, node(s, places.get(s.id))]));
    const drawing = svg("svg", { width: size[0], height: size[1] + HIGH, "aria-hidden": "true" }, ...this.lines.values());
    const box = h("div.graph-box", {}, drawing, ...this.nodes.values());
    box.style.width = `${size[0]}px`;
    box.style.height = `${size[1] + HIGH}px`;
    this.element = h("div.graph", { role: "group", "aria-label": t("graph"), tabindex: "0" }, box);
  }

  /** Mark a step that has ended, and the way to it. */
  add({ node: name, seconds, data = {} }) {
    const id = INNER[name] || name;
    const step = this.steps.get(id);
    if (!step) return;
    if (INNER[name] && this.last === id) step.seconds += seconds;
    else {
      step.count += 1;
      step.seconds += seconds;
      this.way(id);
      this.last = id;
      this.ended.push(id);
    }
    const [element, meta] = [this.nodes.get(id), this.nodes.get(id).querySelector(".meta")];
    element.classList.add("done");
    const ways = [...this.lines.keys()].map((key) => key.split(" ")).filter(([from]) => from === id);
    this.go(NEXT[id]?.(data) || ways.map(([, to]) => to));
    meta.textContent = step.count > 1 ? `${step.count}×` : step.seconds >= 0.001 ? lasted(step.seconds) : "";
    element.title = `${step.words}: ${[lasted(step.seconds), step.count > 1 && t("graph.times", { n: step.count })].filter(Boolean).join(", ")}`;
  }

  /** A step comes from the last one that has an edge to it, and from those that ran beside that one. */
  way(id) {
    const from = this.ended.filter((other) => this.lines.has(`${other} ${id}`));
    const beside = this.places.get(from.at(-1))?.column;
    for (const other of from) if (this.places.get(other).column === beside) this.lines.get(`${other} ${id}`).classList.add("taken");
  }

  /** Light the steps that are under way, none where the run has ended. */
  go(ids) {
    for (const [id, element] of this.nodes) element.classList.toggle("now", ids.includes(id));
  }
}

function node(step, { x, y }) {
  const made = h("span.node", { title: step.words }, h("span.name", { text: step.name }), h("span.meta.number"));
  made.dataset.node = step.id;
  made.style.left = `${x}px`;
  made.style.top = `${y}px`;
  made.style.width = `${WIDE}px`;
  made.style.height = `${HIGH}px`;
  return made;
}

/** Put each step in the column of its longest way from the start; ways back, which close a circle, do not count. */
function layout({ steps, edges }) {
  const next = new Map(steps.map((s) => [s.id, edges.filter(([from, to]) => from === s.id && steps.some((o) => o.id === to)).map(([, to]) => to)]));
  const first = edges.find(([from]) => from === "__start__")?.[1] || steps[0].id;
  const depth = depths(first, next);
  const reaches = (from, to) => depths(from, next).has(to);
  const back = (from, to) => depth.get(to) < depth.get(from) && reaches(to, from);
  const column = new Map();
  const visit = (id, at) => {
    if ((column.get(id) ?? -1) >= at) return;
    column.set(id, at);
    for (const to of next.get(id)) if (!back(id, to)) visit(to, at + 1);
  };
  visit(first, 0);
  const columns = [];
  for (const { id } of steps) (columns[column.get(id) ?? 0] ||= []).push(id);
  const places = new Map();
  const half = Math.ceil(columns.length / 2); // two rows of columns, the second running on below
  const rows = [columns.slice(0, half), columns.slice(half)];
  let top = 0;
  for (const part of rows) {
    const tall = Math.max(...part.map((c) => c.length), 1);
    part.forEach((ids, c) => {
      const free = ((tall - ids.length) * (HIGH + GAP_Y)) / 2;
      ids.forEach((id, n) => places.set(id, { column: column.get(id), x: c * (WIDE + GAP_X * 2), y: top + free + n * (HIGH + GAP_Y) }));
    });
    top += tall * (HIGH + GAP_Y) + GAP_Y * 2;
  }
  return places;
}

/** How many steps each one lies behind the first; what cannot be reached is left out. */
function depths(first, next) {
  const found = new Map([[first, 0]]);
  for (const id of found.keys()) for (const to of next.get(id)) if (!found.has(to)) found.set(to, found.get(id) + 1);
  return found;
}

function line(a, b) {
  const mid = HIGH / 2;
  const [x1, y1, x2, y2] = [a.x + WIDE, a.y + mid, b.x, b.y + mid];
  if (x2 >= x1) {
    const bend = (x2 - x1) / 2;
    return svg("path", { d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` });
  }
  // To the next row, or back: out below, in from above or below.
  const down = y2 > y1;
  const [sx, sy, ex, ey] = [a.x + WIDE / 2, down ? a.y + HIGH : a.y, b.x + WIDE / 2, down ? b.y : b.y + HIGH];
  const pull = Math.max(GAP_Y, Math.abs(ey - sy) / 2) * (down ? 1 : -1);
  return svg("path", { d: `M${sx} ${sy}C${sx} ${sy + pull} ${ex} ${ey - pull} ${ex} ${ey}` });
}

/** An element of a drawing. */
export function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
