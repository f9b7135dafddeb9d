// What a statement over a whole table gave: the statement, the rows that it counted, its condition, its result.

import { h } from "./dom.js";
import { locale, t } from "./i18n.js";

const SHOWN = 20; // rows of a result

const said = (n) => n.toLocaleString(locale);

const cell = (value) => (value === null ? "" : typeof value === "number" ? value.toLocaleString(locale, { maximumFractionDigits: 6, useGrouping: false }) : String(value));

/** How many rows were counted, in words. */
const counted = ({ counted: n, total }) => (n === null ? t("computed.nested", { total: said(total) }) : t("computed.rows", { count: said(n), total: said(total) }));

/** Where a source row stands in its file. */
function place({ row, line, page }) {
  if (page) return t("computed.page", { row: said(row), page });
  return line ? t("computed.line", { row: said(row), line }) : said(row);
}

/** What unfolds under a citation whose words are a result; nothing under any other. */
export function computedBlock({ computed }) {
  if (!computed) return null;
  const rows = computed.rows.slice(0, SHOWN).map((row) => h("tr", {}, ...row.map((value) => h("td", { text: cell(value), dir: "auto" }))));
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
    computed.places.length > 0 && h("p", { text: t("computed.places", { places: computed.places.map(place).join(", ") }) }),
  );
}
