// What went wrong and what to do about it: in the language of the page by the name of the sentence, else as the server wrote it.

import { known, t } from "./i18n.js";

const clean = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?。！？]$/.test(text) ? "" : ".");

/** Write a problem of the server as sentences. */
export function inWords({ title = "", remedy = "", key = "", values = {} }) {
  if (key && known(`error.${key}`)) return t(`error.${key}`, values);
  return [title, remedy].filter(Boolean).map(clean).join(" ");
}
