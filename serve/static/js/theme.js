// Light and dark: as the system has it, or as the reader chooses.

import { recall, remember } from "./prefs.js";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const NEXT = { auto: "light", light: "dark", dark: "auto" };
let mode = recall("theme", "auto");

/** Put the theme into effect. */
function applyTheme() {
  document.documentElement.dataset.theme = mode === "auto" ? (system.matches ? "dark" : "light") : mode;
}

export const THEMES = Object.keys(NEXT);

/** The theme that the reader chose. */
export const theme = () => mode;

/** Choose a theme. */
export function setTheme(name) {
  mode = name;
  remember("theme", mode);
  applyTheme();
}

/** Go on to the next theme. */
export const nextTheme = () => setTheme(NEXT[mode]);

system.addEventListener("change", applyTheme);
applyTheme();
