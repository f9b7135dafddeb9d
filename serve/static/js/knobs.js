// The settings of a run in words for people: name, and what it does. What no language names has the words of the server's schema.

import { known } from "./i18n.js";
import { state } from "./state.js";

/** What a setting is called. */
export const knobName = (name) => known(`knob.${name}`) || name.replaceAll("_", " ").replace(/^./, (c) => c.toUpperCase());

/** What it does; nothing where its name says it. */
export const knobTold = (name, otherwise = "") => known(`knob.${name}.tell`, known(`knob.${name}`) ? "" : otherwise);

/** The word for a value of a setting. */
export const valueName = (knob, value) => (knob === "model" ? value || state.me?.chat : known(`value.${knob}.${value}`) || known(`value.${value}`) || String(value).replaceAll("-", " "));
