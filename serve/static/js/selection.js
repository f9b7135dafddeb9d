// Text that is selected in an opened source goes into the next question.

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";

const MOST = 300; // characters that go into a question

let button = null;

/** Offer to ask about what is selected in the panel. */
export function watchSelection() {
  document.addEventListener("selectionchange", () => {
    clearTimeout(watchSelection.soon);
    watchSelection.soon = setTimeout(offer, 150);
  });
  document.addEventListener("scroll", drop, true);
}

function drop() {
  button?.remove();
  button = null;
}

function offer() {
  const chosen = document.getSelection();
  const text = chosen.toString().replace(/\s+/g, " ").trim();
  const inside = chosen.rangeCount && document.querySelector("#panel .panel-body")?.contains(chosen.anchorNode);
  if (button?.contains(document.activeElement)) return;
  drop();
  if (!inside || text.length < 2 || chosen.isCollapsed) return;
  button = h(
    "div.ask-about",
    {},
    h("button.button.small", { type: "button", on: { click: () => ask(text) } }, icon("pen"), t("select.ask")),
  );
  document.getElementById("panel").append(button);
  const at = chosen.getRangeAt(0).getBoundingClientRect();
  const panel = document.getElementById("panel").getBoundingClientRect();
  button.style.left = `${Math.min(Math.max(8, at.left - panel.left), panel.width - button.offsetWidth - 8)}px`;
  const below = at.bottom - panel.top + 8;
  button.style.top = `${Math.max(56, Math.min(below, panel.height - button.offsetHeight - 8))}px`;
}

function ask(text) {
  const field = document.getElementById("question");
  const words = text.length > MOST ? `${text.slice(0, MOST).replace(/\s\S*$/, "")} …` : text;
  field.value = `${t("select.about", { words })} `;
  field.dispatchEvent(new Event("input"));
  drop();
  if (window.matchMedia("(max-width: 1180px)").matches) document.dispatchEvent(new CustomEvent("ragweave:close-panel"));
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
