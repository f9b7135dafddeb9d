// What the server says of its own, in the language of the page: it is English there, and what no table knows stays so.

import { language, sentences } from "./i18n.js";

const SLOT = /\{\d+\}/;

// The server begins a title with a capital.
const folded = (text) => text.charAt(0).toLowerCase() + text.slice(1);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const ended = (text) => text + (/[.!?。！？]$/.test(text) ? "" : language === "zh" && /\p{Script=Han}/u.test(text) ? "。" : ".");

const exact = new Map(Object.entries(sentences).map(([english, own]) => [folded(english), own]));
let templates; // made when the first sentence asks for them

/** Write what went wrong and what to do about it as one or two sentences. */
export const told = (what, remedy) => joined(said(what), remedy && said(remedy));

/** What the server says, a clause alone or with its remedy behind it, as a reader of this page says it. */
export function said(text = "") {
  for (let at = text.lastIndexOf(". "); at > 0; at = text.lastIndexOf(". ", at - 1)) {
    const remedy = clause(text.slice(at + 2));
    if (remedy) return joined(cased(text.slice(0, at)), remedy);
  }
  return text.endsWith(".") && clause(text) ? ended(cased(text)) : cased(text);
}

function joined(what, remedy) {
  const first = ended(what);
  return remedy ? `${first}${first.endsWith("。") ? "" : " "}${ended(capital(remedy))}` : first;
}

// The name of a file may be what a sentence begins with, and stays as it is.
function cased(text) {
  const own = clause(text) || text;
  return /^\p{Lu}/u.test(text) ? capital(own) : own;
}

function clause(text) {
  const bare = text.replace(/\.+$/, "");
  if (exact.has(folded(bare))) return exact.get(folded(bare));
  templates ??= Object.keys(sentences).filter((key) => SLOT.test(key)).sort((a, b) => a.startsWith("{") - b.startsWith("{") || length(b) - length(a)).map((key) => [pattern(key), sentences[key]]);
  for (const [form, words] of templates) {
    const found = form.exec(bare);
    if (found) return words.replace(/\{(\d+)\}/g, (_, n) => value(found[Number(n) + 1]));
  }
  return "";
}

// The longer what stands between the slots, the less it fits by chance; a slot at the beginning takes the most.
const length = (key) => key.split(SLOT).join("").length;

function pattern(key) {
  const form = key.split(SLOT).map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("(.+?)");
  return new RegExp(`^${form.replace(/^[a-z]/i, (c) => `[${c.toLowerCase()}${c.toUpperCase()}]`)}$`, "s");
}

// A value may be a clause of the server itself; names come in Python's quotes, and the words here have their own.
const value = (text) => clause(text) || text.replace(/^(["'])((?:(?!\1).)*)\1$/s, "$2");
