// The words of the page in the language of its reader: a file for each; what one lacks is said in English.

import { recall } from "./prefs.js";

/** The languages there are, each by its own name. */
export const LANGUAGES = { en: "English", de: "Deutsch", zh: "中文" };
const LOCALES = { en: "en-GB", de: "de-DE", zh: "zh-CN" };

/** The language that was chosen here, else the first of the browser's that there is. */
export const language = [recall("language"), ...navigator.languages.map((tag) => tag.split("-")[0])].find((name) => name in LANGUAGES) || "en";

/** Where dates and numbers are written as here. */
export const locale = LOCALES[language];

const read = async (name) => (await fetch(`/static/lang/${name}.json`)).json();
const foreign = language !== "en";
const [english, own] = await Promise.all([read("en"), foreign ? read(language) : {}]);
const plural = new Intl.PluralRules(locale);
const numbers = new Intl.NumberFormat(locale);

/** The words of a key, or what stands in for them where nobody wrote any. */
export const known = (key, otherwise = "") => own[key] ?? english[key] ?? otherwise;

/**
 * Write what a key says.
 * @param {string} key
 * @param {Record<string, string|number>} values what stands in its braces; `n` chooses between one and many
 */
export function t(key, values = {}) {
  const found = known(key, key);
  const words = typeof found === "string" ? found : found[plural.select(values.n)];
  return words.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? numbers.format(values[name]) : values[name]));
}
