// Who and what is spoken of in recordings: one entity in the middle, its neighbours around it, and where it stands.

import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { fill, h, toast } from "./dom.js";
import { svg } from "./graph.js";
import { t } from "./i18n.js";
import { openCitation } from "./panel.js";
import { state } from "./state.js";
import { placeBeside, titleOf } from "./words.js";

const [WIDE, HIGH] = [132, 34]; // pixels of a name
const at = (key = "") => `/api/entities${key && `/${encodeURIComponent(key)}`}?library=${encodeURIComponent(state.library.name)}`;

/** The entities that are joined to the most others, as buttons; nothing where no graph was built. */
export async function entities() {
  const { entities: rows } = await call("GET", at());
  if (!rows.length) return null;
  const items = rows.map((row) => h("li", {}, h("button.suggested", { type: "button", text: row.name, dir: "auto", "aria-haspopup": "dialog", on: { click: () => open(row.key) } })));
  return h("section.entities", { "aria-label": t("entities") }, h("h3", { text: t("entities") }), h("ul", { role: "list" }, ...items));
}

function open(key) {
  const body = h("div.around");
  const dialog = openDialog(t("entities"), [body], { classes: "wide" });
  draw(key, body, dialog);
}

async function draw(key, body, dialog) {
  let told;
  try {
    told = await call("GET", at(key));
  } catch (error) {
    return void toast(error.sentence || String(error.message), { bad: true });
  }
  const { entity, around, places } = told;
  const told_ = around.filter((other) => other.description);
  fill(
    body,
    drawing(entity, around, body.clientWidth, (next) => draw(next, body, dialog)),
    h("h3", { tabindex: "-1", dir: "auto" }, entity.name, entity.kind && h("span.tag", { text: entity.kind })),
    entity.description && h("p", { text: entity.description, dir: "auto" }),
    told_.length && h("dl.reasoned", { "aria-label": t("entities.joined") }, ...told_.flatMap((other) => [h("dt", { text: other.name, dir: "auto" }), h("dd", { text: other.description, dir: "auto" })])),
    places.length && h("h4.fine", { text: t("entities.places") }),
    places.length && h("ol.places", { "aria-label": t("entities.places") }, ...places.map((place) => placed(place, dialog))),
  );
  body.querySelector("h3").focus({ preventScroll: true });
}

function placed(place, dialog) {
  const show = () => {
    dialog.close();
    openCitation({ n: null, ...place });
  };
  return h("li.source", {}, h("button.words", { type: "button", on: { click: show } }, h("span.title", { text: titleOf(place), dir: "auto" }), h("span.fine", { text: placeBeside(place.title, place.locator), dir: "auto" }), h("span.said", { text: place.quote, dir: "auto" })));
}

/** Names on an ellipse around the one in the middle; the thicker a line, the more strongly two are joined. */
function drawing(middle, around, width, onpick) {
  const wide = Math.max(280, Math.min(width, 620));
  const high = wide < 480 ? 110 + around.length * 44 : 330;
  const [cx, cy] = [wide / 2, high / 2];
  const most = Math.max(...around.map((other) => other.weight), 1);
  const spots = around.map((_, n) => {
    const turn = (2 * Math.PI * n) / around.length - Math.PI / 2;
    return [cx + (cx - WIDE / 2) * Math.cos(turn), cy + (cy - HIGH / 2 - 2) * Math.sin(turn)];
  });
  const lines = spots.map(([x, y], n) => svg("path", { d: `M${cx} ${cy}L${x} ${y}`, "stroke-width": 1 + (3 * around[n].weight) / most }));
  const name = (entity, [x, y], is) => {
    const made = h(`button.node${is ? ".done" : ""}`, { type: "button", disabled: is, title: entity.description || entity.name, on: { click: () => onpick(entity.key) } }, h("span.name", { text: entity.name, dir: "auto" }));
    Object.assign(made.style, { left: `${x - WIDE / 2}px`, top: `${y - HIGH / 2}px`, width: `${WIDE}px`, height: `${HIGH}px` });
    return made;
  };
  const box = h("div.graph-box", { role: "group", "aria-label": t("entities.around", { name: middle.name }) }, svg("svg", { width: wide, height: high, "aria-hidden": "true" }, ...lines), name(middle, [cx, cy], true), ...around.map((other, n) => name(other, spots[n], false)));
  Object.assign(box.style, { width: `${wide}px`, height: `${high}px` });
  return h("div.graph", {}, box);
}
