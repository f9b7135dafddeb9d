// Numbers, times and places in words.

import { known, locale, t } from "./i18n.js";

const COUNTS = new Intl.NumberFormat(locale);
const TENTHS = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const HUNDREDTHS = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const SHARES = new Intl.NumberFormat(locale, { style: "percent" });
const COSTS = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 });

/** 1234 as "1,234". */
export const number = (n) => COUNTS.format(n);

/** 0.5 as "0.50". */
export const hundredths = (value) => HUNDREDTHS.format(value);

/** 0.5 as "50%". */
export const share = (value) => SHARES.format(value);

/** What something cost, to two digits; empty where it cost nothing. */
export const cost = (value) => (value ? COSTS.format(value) : "");

/** "1 file", "2 files". */
export const some = (n, noun) => t(`count.${noun}`, { n });

/** Seconds of a recording as 1:02:03. */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${tail}` : tail;
}

/** Seconds of work as "0.42 s" or "1 min 5 s". */
export function lasted(seconds) {
  if (seconds < 0.0995) return t("time.ms", { n: Math.round(seconds * 1000) });
  if (seconds < 60) return t("time.s", { n: seconds < 10 ? TENTHS.format(seconds) : Math.round(seconds) });
  return t("time.min", { n: Math.floor(seconds / 60), s: Math.round(seconds % 60) });
}

/** Bytes as "1.4 MB". */
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let n = bytes;
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1000;
    unit += 1;
  }
  return `${unit && n < 10 ? TENTHS.format(n) : number(Math.round(n))} ${units[unit]}`;
}

/** A day as people write it; empty where there is none. */
export function day(iso) {
  const date = new Date(iso);
  if (!iso || Number.isNaN(date.getTime())) return "";
  return date.toLocaleDateString(locale, { day: "numeric", month: "short", year: "numeric" });
}

/** The name of a corpus in words. */
export const corpusName = (corpus) => known(`corpus.${corpus}`, corpus);

/** The name of a web search in words. */
export const providerName = (provider) => known(`provider.${provider}`, provider);

const hasSheets = (file) => /\.xls[xm]$/i.test(file || "");

/** Where a citation lies, in words: page 3, a heading path, a sheet and its row, 1:05–1:20, a host. */
export function place(locator, sheets = hasSheets(locator.file)) {
  if (locator.url) return host(locator.url);
  const parts = [];
  if (locator.file) parts.push(locator.file);
  if (locator.start !== undefined) parts.push(span(locator.start, locator.end));
  else if (locator.page) parts.push(t("place.page", { n: String(locator.page) }));
  else {
    const heading = (locator.heading || []).join(" › ");
    if (heading) parts.push(heading);
    if (locator.line && (sheets || !heading)) parts.push(t(sheets ? "place.row" : "place.line", { n: String(locator.line) }));
  }
  if (locator.doubtful) parts.push(t("place.doubtful"));
  return parts.join(", ");
}

/** Where something lies, without what its title names already: headings, or the file where that is its name. */
export function placeBeside(title, locator) {
  const heading = (locator.heading || []).filter((part) => !title.includes(part));
  const { file, ...rest } = locator;
  const named = file && alike(titleOf({ title, locator }), file);
  return (named && place({ ...rest, heading }, hasSheets(file))) || place({ ...locator, heading });
}

/** Whether a title says what the file is called, but for the ending, capitals and what joins the words. */
function alike(title, file) {
  const words = (name) => name.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();
  const called = words(file.replace(/\.[^.]*$/, ""));
  return title === file || (called !== "" && called === words(title.split(" · ")[0]));
}

/** What a source says, to be read outside it: without the sign of a list item, the cells of a row with dots between. */
export const plain = (quote) => quote.replace(/^\s*[-*•]\s+/gm, "").replace(/\s*\|\s*/g, " · ");

/** "1:05–1:20". */
export function span(start, end) {
  return end === undefined || end <= start ? clock(start) : `${clock(start)}–${clock(end)}`;
}

/** The host of an address, in the form that shows what it is; the address itself where there is none. */
export function host(url) {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** Titles that no person gave: numbers under which something was filed, or the name of a file. */
const FILED = /^(?=.*\d)[\w.-]*$/;

/** What a source is called: its title, or its file where the title is none that a person gave. */
export const nameOf = (source) => ((source.title || "").trim() && !FILED.test(source.title.trim()) ? source.title.trim() : source.name || source.title || t("untitled"));

/** The name of a file without the number that the server gives to another content of the same name. */
export const unnumbered = (name) => name.replace(/ \(\d+\)(?=(\.[^.]*)?$)/, "");

/** What a citation is called, in the same way; the heading behind the title stays. */
export function titleOf({ title, locator }) {
  const [first, ...rest] = (title || "").split(" · ");
  return [nameOf({ title: first, name: locator?.file }), ...rest].join(" · ");
}

const GROUPS = {
  pdf: ["pdf"],
  html: ["html"],
  office: ["docx", "pptx", "xlsx", "rtf", "odt", "odp", "ods", "epub"],
  mail: ["eml", "mbox"],
  data: ["csv", "json", "items", "ics"],
  code: ["code", "notebook", "man"],
  pictures: ["image"],
  recordings: ["video", "audio", "transcript"],
};

/** The group of kinds that a source belongs to, `kind.` before it in words; what is none of the others is text. */
export function groupOf(source) {
  if (source.status === "failed") return "failed";
  return Object.keys(GROUPS).find((name) => GROUPS[name].includes(source.kind)) || "text";
}
