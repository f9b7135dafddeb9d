// What went wrong and what to do about it: in the language of the page by the name of the sentence, else as the server wrote it.

import { known, t } from "./i18n.js";

const clean = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?。！？]$/.test(text) ? "" : ".");

/** Write a problem of the server as sentences. */
export function inWords({ title = "", remedy = "", key = "", values = {} }) {
  if (key && known(`error.${key}`)) return t(`error.${key}`, values);
  return [title, remedy].filter(Boolean).map(clean).join(" ");
}

/** Write a note of the server: in the language of the page by its key, else as the server wrote it. */
export function noteInWords({ text, key = "", values = {} }) {
  if (!key || !known(`note.${key}`)) return text;
  const items = values.items?.map(itemInWords).join(t("list.comma"));
  return t(`note.${key}`, items ? { ...values, items } : values);
}

function itemInWords({ text, key, values, n }) {
  const words = key && known(`unused.${key}`) ? t(`unused.${key}`, values) : text;
  return n > 1 ? t("unused.times", { words, times: n }) : words;
}
