// What a statement over a whole table gave: the statement, the rows that it counted, its condition, its result.

import { h } from "./dom.js";
import { locale, t } from "./i18n.js";
import { openAddress } from "./panel.js";

const SHOWN = 20; // rows of a result

const said = (n) => n.toLocaleString(locale);

const cell = (value) => (value === null ? "" : typeof value === "number" ? value.toLocaleString(locale, { maximumFractionDigits: 6, useGrouping: false }) : String(value));

/** How many rows were counted, in words. */
const counted = ({ counted: n, total }) => (n === null ? t("computed.nested", { total: said(total) }) : t("computed.rows", { count: said(n), total: said(total) }));

/** The place of a source row in its file, as a button that opens it if an item shows it. */
function place({ row, line, page, item, chars }, library) {
  const words = page ? t("computed.page", { row: said(row), page }) : line ? t("computed.line", { row: said(row), line }) : said(row);
  if (!item || !library) return h("li", { text: words });
  return h("li", {}, h("button.bare", { type: "button", text: words, on: { click: () => openAddress(library, item, chars.join("-")) } }));
}

/** What unfolds under a citation whose words are a result; nothing under any other. */
export function computedBlock({ computed, open = {} }) {
  if (!computed) return null;
  const rows = computed.rows.slice(0, SHOWN).map((row) => h("tr", {}, ...row.map((value) => h("td", { text: cell(value), dir: "auto" }))));
  const library = open.href?.split("/")[2];
  const left = computed.more || computed.rows.length > SHOWN;
  return h(
    "details.computed.fine",
    {},
    h("summary", { text: counted(computed) }),
    h("code", { text: computed.statement }),
    computed.condition && h("p", { text: t("computed.where", { condition: computed.condition }) }),
    ...computed.notes.map((note) => h("p", { text: note, dir: "auto" })),
    h("div.scroll", {}, h("table", {}, h("thead", {}, h("tr", {}, ...computed.columns.map((name) => h("th", { text: name })))), h("tbody", {}, ...rows))),
    left && h("p", { text: t("computed.more") }),
    computed.places.length > 0 && h("p", { text: t("computed.places") }),
    computed.places.length > 0 && h("ul.places", {}, ...computed.places.map((one) => place(one, library))),
  );
}
