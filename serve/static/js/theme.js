// Light and dark: as the system has it, or as the reader chooses.

import { fill, iconButton } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { recall, remember } from "./prefs.js";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const NEXT = { auto: "light", light: "dark", dark: "auto" };
const ICONS = { auto: "auto", light: "sun", dark: "moon" };

let button = null;
let mode = recall("theme", "auto");

/** Put the theme into effect. */
function applyTheme() {
  document.documentElement.dataset.theme = mode === "auto" ? (system.matches ? "dark" : "light") : mode;
  if (!button) return;
  fill(button, icon(ICONS[mode]));
  button.title = t(`theme.${mode}`);
  button.setAttribute("aria-label", button.title);
}

/** Go on to the next theme. */
export function nextTheme() {
  mode = NEXT[mode];
  remember("theme", mode);
  applyTheme();
}

/** The button that changes it. */
export function themeButton() {
  button = iconButton(icon("auto"), t("theme"), nextTheme);
  applyTheme();
  return button;
}

system.addEventListener("change", applyTheme);
applyTheme();
