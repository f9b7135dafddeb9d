// A passage in its document, with the words marked; and a web page as an address that only the reader opens.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { locale, t } from "./i18n.js";
import { icon } from "./icons.js";
import { withFormulas } from "./maths.js";
import { itemAddress, quoted } from "./panel.js";
import { host } from "./words.js";

const BAR = " | ";
const ROWS = /(?:^[^\n]* \| [^\n]*(?:\n|$)){2,}/gm;
const MORE = 10; // times as many neighbours, each time more is wanted

/** Show the passage with what stands around it; a source that is opened as a whole, from its beginning. */
export async function textView(citation, body) {
  const whole = !citation.quote;
  let most = whole ? 100 : 4;
  let told = await call("GET", `${itemAddress(citation)}/around?most=${most}`);
  const heading = citation.locator.heading?.length ? citation.locator.heading : told.around.find((row) => row.here).heading;
  const crumbs = heading.length && !whole ? h("ol.crumbs", { "aria-label": t("text.heading") }, ...heading.map((text) => h("li", { text, dir: "auto" }))) : null;
  const passage = h("div.passage", { tabindex: "0", role: "region", "aria-label": t("text.source") });
  const more = h("button.button.small", { type: "button", text: t("text.more"), on: { click: widen } });
  fill(body, crumbs, passage, more);
  draw();
  if (!whole) (body.querySelector("mark") || body.querySelector(".here"))?.scrollIntoView({ block: "center" });

  function draw() {
    let at = "";
    const parts = told.around.map((row) => {
      const path = row.heading.join(" › ");
      const title = path !== at && row.heading.length ? h("h3", { text: row.heading.at(-1), dir: "auto" }) : null;
      at = path;
      const here = row.here && !whole;
      return h("section", { class: here ? "here" : whole ? "" : "beside" }, title, here ? marked(row.text, range(row.text, citation)) : prose(row.text));
    });
    fill(passage, ...parts);
    const place = told.around.findIndex((row) => row.here);
    more.hidden = most >= 1000 || (place < most && told.around.length - place - 1 < most);
  }

  async function widen() {
    most = Math.min(1000, most * MORE);
    more.disabled = true;
    try {
      told = await call("GET", `${itemAddress(citation)}/around?most=${most}`);
      const here = passage.querySelector(".here");
      const before = here?.offsetTop;
      draw();
      if (here) body.scrollTop += passage.querySelector(".here").offsetTop - before;
    } finally {
      more.disabled = false;
    }
  }
}

/** The characters to mark: those that the citation names, else where its quote stands. */
function range(text, { open, quote }) {
  if (open.chars && open.chars[0] < open.chars[1] && open.chars[1] <= [...text].length) return points(text, open.chars);
  const start = quote ? text.indexOf(quote) : -1;
  return start < 0 ? null : [start, start + quote.length];
}

/** The server counts characters, a script counts units of UTF-16. */
function points(text, [start, end]) {
  const characters = [...text];
  const before = characters.slice(0, start).join("").length;
  return [before, before + characters.slice(start, end).join("").length];
}

const prose = (text) => marked(text, null);

/** A text, with a stretch of it marked; rows whose cells have bars between them are drawn as a table. */
function marked(text, found) {
  const [start, end] = found || [0, 0];
  const piece = (from, to) => {
    const [a, b] = [start, end].map((at) => Math.min(to, Math.max(from, at)));
    return [...withFormulas(text.slice(from, a)), a < b && h("mark", {}, ...withFormulas(text.slice(a, b))), ...withFormulas(text.slice(b, to))];
  };
  const row = (line, from, tag) => {
    let at = from;
    return h("tr", {}, ...line.split(BAR).map((cell) => h(tag, {}, ...piece(at, (at += cell.length + BAR.length) - BAR.length))));
  };
  const parts = [];
  let at = 0;
  for (const { 0: rows, index } of text.matchAll(ROWS)) {
    parts.push(...piece(at, index));
    at = index;
    const lines = rows.trimEnd().split("\n");
    // A first row without a number names the columns.
    const drawn = lines.map((line, n) => row(line, (at += n && lines[n - 1].length + 1), n || /\d/.test(line) ? "td" : "th"));
    parts.push(h("div.wide", {}, h("table.cells", {}, ...drawn)));
    at = index + rows.length;
  }
  return h("div.text", { dir: "auto" }, ...parts, ...piece(at, text.length));
}

/** Show a web page as what it is: an address somewhere else. */
export async function webView(citation, body) {
  const { url, fetched } = citation.locator;
  fill(
    body,
    h("div.web", {},
      h("p.host", {}, icon("globe"), h("strong", { text: host(url) })),
      h("p.address", {}, h("code", { text: url })),
      fetched && h("p.fine", { text: t("text.read", { when: new Date(fetched).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" }) }) }),
      h("a.button", { href: url, target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer" }, icon("out"), t("text.tab")),
      h("p.fine", { text: t("text.leaves") })),
    quoted(citation),
  );
}
