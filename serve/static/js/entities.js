// Who and what is spoken of in recordings: one entity in the middle, its neighbours around it, and where it stands.

import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { fill, h, svg, toast } from "./dom.js";
import { t } from "./i18n.js";
import { openCitation } from "./panel.js";
import { state } from "./state.js";
import { placeBeside, titleOf } from "./words.js";

const [WIDE, HIGH] = [132, 34]; // pixels of a name
const at = (key = "") => `/api/entities${key && `/${encodeURIComponent(key)}`}?library=${encodeURIComponent(state.library.name)}`;

/** The entities that are joined to the most others, a line of buttons a community; nothing where no graph was built. */
export async function entities() {
  const { groups } = await call("GET", at());
  if (!groups.length) return null;
  const named = (row) => h("li", {}, h("button.suggested", { type: "button", text: row.name, dir: "auto", "aria-haspopup": "dialog", on: { click: () => open(row.key) } }));
  return h("section.entities", { "aria-label": t("entities") }, h("h3", { text: t("entities") }), ...groups.map((group) => h("ul", { role: "list" }, ...group.map(named))));
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
  const { entity, around, lines, places } = told;
  const told_ = around.filter((other) => other.description);
  fill(
    body,
    drawing(entity, around, lines, body.clientWidth, (next) => draw(next, body, dialog)),
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

/** Names where the server places them; the thicker a line, the more strongly two are joined. */
function drawing(middle, around, lines, width, onpick) {
  const wide = Math.max(280, Math.min(width, 620));
  const high = wide < 480 ? 110 + around.length * 44 : 330;
  const spots = Object.fromEntries([middle, ...around].map(({ key, x, y }) => [key, [((x + 1) * (wide - WIDE) + WIDE) / 2, ((y + 1) * (high - HIGH - 4) + HIGH) / 2 + 2]]));
  const most = Math.max(...lines.map(([, , weight]) => weight), 1);
  const drawn = lines.map(([one, other, weight]) => svg("path", { d: `M${spots[one]}L${spots[other]}`, "stroke-width": 1 + (3 * weight) / most }));
  const name = (entity, is) => {
    const [x, y] = spots[entity.key];
    const made = h(`button.node${is ? ".done" : ""}`, { type: "button", disabled: is, title: entity.description || entity.name, on: { click: () => onpick(entity.key) } }, h("span.name", { text: entity.name, dir: "auto" }));
    Object.assign(made.style, { left: `${x - WIDE / 2}px`, top: `${y - HIGH / 2}px`, width: `${WIDE}px`, height: `${HIGH}px` });
    return made;
  };
  const box = h("div.graph-box", { role: "group", "aria-label": t("entities.around", { name: middle.name }) }, svg("svg", { width: wide, height: high, "aria-hidden": "true" }, ...drawn), name(middle, true), ...around.map((other) => name(other, false)));
  Object.assign(box.style, { width: `${wide}px`, height: `${high}px` });
  return h("div.graph", {}, box);
}
