// The settings of a run, drawn from the schema that the server gives: web, effort and model first, the rest folded.

import { openDialog } from "./dialog.js";
import { fill, h, uid } from "./dom.js";
import { known, t } from "./i18n.js";
import { knob, on, ring, setKnob, state } from "./state.js";
import { remember } from "./prefs.js";
import { knobName, knobTold, valueName } from "./knobs.js";
import { openModels } from "./models.js";
import { corpusName } from "./words.js";

const COMMON = ["web", "effort", "mode", "model"];
const GROUPS = [
  ["where", ["corpora", "route_by", "recency"]],
  ["search", ["preset", "top_k"]],
  ["judging", ["grade_by", "check_by"]],
  ["rounds", ["max_hops"]],
  ["limits", ["sentences", "max_model_calls", "max_tokens", "max_seconds", "max_cost"]],
];
const HIDDEN = ["library", "sources", "method", "fresh"];
let body = null;

/** The chat model that answers the next question; "" where none does. */
export const modelAsked = () => (knob("mode") === "extractive" ? "" : knob("model") || state.me?.chat || "");

/** Who answers the next question: a chat model without its provider and its folder, or the search with quotes. */
export function modelName() {
  const name = modelAsked();
  return name ? name.replace(/^[a-z_]+:(?=\D)/, "").split("/").at(-1) : t("turn.extractive");
}

/** Open the settings. */
export function openSettings() {
  body = h("div.settings");
  const reset = h("button.button.small", { type: "button", text: t("settings.reset"), on: { click: resetAll } });
  openDialog(t("settings"), [h("p.fine", { text: t("settings.tell") }), body, h("div.choices", {}, state.me?.may_change && h("button.button.small", { type: "button", text: t("models"), "aria-haspopup": "dialog", on: { click: openModels } }), reset)], { classes: "wide", onclose: () => (body = null) });
  draw();
}

function resetAll() {
  state.settings = {};
  state.graph = state.usualGraph;
  remember("settings", {});
  remember("graph", null);
  ring("settings");
  draw();
}

on("settings", () => body && mark());

function draw() {
  const known = state.form.schema.properties || {};
  const named = new Set([...COMMON, ...HIDDEN, ...GROUPS.flatMap(([, names]) => names)]);
  // What a newer server knows and this list does not still gets its place.
  const rest = Object.keys(known).filter((name) => !named.has(name));
  const judged = h("a.fine", { href: `/api/verdicts?library=${encodeURIComponent(state.library.name)}`, download: "questions.jsonl", text: t("settings.judged") });
  const groups = [...GROUPS, ["more", rest]].map(([title, names]) => [title, names.filter((name) => name in known)]).filter(([, names]) => names.length);
  fill(
    body,
    ...COMMON.filter((name) => name in known).map(row),
    h("details.more", {}, h("summary", { text: t("settings.all") }), method(), ...groups.map(([title, names]) => h("fieldset", {}, h("legend", { text: t(`settings.${title}`) }), ...names.map(row))), judged),
  );
  mark();
}

function mark() {
  for (const element of body.querySelectorAll("[data-knob]")) element.classList.toggle("changed", element.dataset.knob in state.settings);
}

function method() {
  const id = uid("knob");
  const input = h("select.field", { id }, ...state.graphs.map((g) => h("option", { value: g.name, text: g.name.replaceAll("_", " ") })));
  input.value = state.graph;
  const told = h("p.fine");
  const tell = () => (told.textContent = known(`method.${state.graph}`, state.graphs.find((g) => g.name === state.graph)?.description));
  input.addEventListener("change", () => {
    state.graph = input.value;
    remember("graph", state.graph === state.usualGraph ? null : state.graph);
    tell();
    ring("settings");
  });
  tell();
  return h("div.knob", {}, h("label", { for: id, text: t("knob.graph") }), input, told);
}

/** One setting of a run: its name, its control, and what it does. */
function row(name) {
  const schema = resolved(state.form.schema.properties[name]);
  const id = uid("knob");
  const wrong = h("p.wrong", { role: "alert" });
  const title = knobName(name);
  const control = control_(name, schema, id, wrong);
  const group = schema.type === "array";
  const label = group ? h("span.label", { id: `${id}-label`, text: title }) : h("label", { for: id, text: title });
  label.dataset.changed = t("settings.changed");
  if (group) control.setAttribute("aria-labelledby", `${id}-label`);
  control.setAttribute("aria-describedby", `${id}-told`);
  const box = h("div.knob", {}, label, control, h("p.fine", { id: `${id}-told`, text: knobTold(name, schema.description) }), wrong);
  box.dataset.knob = name;
  return box;
}

/** A property with its alternatives joined: `number or null` is a number that may be empty. */
function resolved(property) {
  const options = property.anyOf?.filter((o) => o.type !== "null");
  return options ? { ...property, ...options[0], nullable: property.anyOf.length > options.length } : property;
}

function control_(name, schema, id, wrong) {
  const value = knob(name);
  if (schema.enum) {
    const input = h("select.field", { id }, ...schema.enum.map((v) => h("option", { value: String(v), text: valueName(name, v) })));
    input.value = String(value);
    input.addEventListener("change", () => setKnob(name, schema.enum.find((v) => String(v) === input.value)));
    return input;
  }
  if (schema.type === "boolean") {
    return h("input.switch", { id, type: "checkbox", role: "switch", checked: Boolean(value), on: { change: (event) => setKnob(name, event.target.checked) } });
  }
  if (schema.type === "array") return several(name, schema, value || []);
  const numeric = schema.type === "integer" || schema.type === "number";
  const low = schema.minimum ?? schema.exclusiveMinimum;
  const input = h("input.field", {
    id, type: numeric ? "number" : "text", value: value ?? "", min: numeric ? low : null, max: numeric ? schema.maximum : null,
    step: schema.type === "integer" ? "1" : numeric ? "any" : null, maxlength: schema.maxLength, placeholder: schema.nullable ? t("settings.automatic") : null,
  });
  const take = () => {
    const empty = input.value.trim() === "";
    const bad = numeric && (!input.checkValidity() || (empty && !schema.nullable));
    input.setAttribute("aria-invalid", String(bad));
    wrong.textContent = bad ? input.validationMessage || t("settings.number") : "";
    if (!bad) setKnob(name, numeric ? (empty ? null : Number(input.value)) : input.value);
  };
  input.addEventListener("change", take);
  // A line that says what is wrong goes while it is mended, and not under the mouse on its way to a button.
  input.addEventListener("input", () => wrong.textContent && take());
  return input;
}

function several(name, schema, chosen) {
  const options = schema.items?.enum || [];
  const boxes = options.map((option) => {
    const box = h("input", { type: "checkbox", value: option, checked: chosen.includes(option) });
    box.addEventListener("change", () => setKnob(name, options.filter((o) => boxes.find((b) => b.value === o).checked)));
    return box;
  });
  return h("div.several", { role: "group" }, ...boxes.map((box) => h("label", {}, box, h("span", { text: corpusName(box.value) }))));
}
