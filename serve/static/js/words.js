// Numbers, times and places in words.

const COUNTS = new Intl.NumberFormat("en");

/** 1234 as "1,234". */
export const number = (n) => COUNTS.format(n);

/** "1 file", "2 files". */
export const some = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

/** Seconds of a recording as 1:02:03. */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${tail}` : tail;
}

/** Seconds of work as "0.42 s" or "1 min 5 s". */
export function lasted(seconds) {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
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
  return `${unit && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

/** A day as people write it; empty where there is none. */
export function day(iso) {
  const date = new Date(iso);
  if (!iso || Number.isNaN(date.getTime())) return "";
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

const CORPORA = { paragraph: "passage", document: "document", image: "picture", clip: "clip", video: "video" };

/** The name of a corpus in words. */
export const corpusName = (corpus) => `${CORPORA[corpus] || corpus}${corpus === "none" ? "" : "s"}`;

const PROVIDERS = { folder: "a folder of saved pages on this machine", searx: "a SearxNG server", tavily: "Tavily", duckduckgo: "DuckDuckGo", wikipedia: "Wikipedia" };

/** The name of a web search in words. */
export const providerName = (provider) => PROVIDERS[provider] || provider;

/** Where a citation lies, in words: page 3, a heading path, 1:05–1:20, a host. */
export function place(locator) {
  if (locator.url) return host(locator.url);
  const parts = [];
  if (locator.file) parts.push(locator.file);
  if (locator.start !== undefined) parts.push(span(locator.start, locator.end));
  else if (locator.page) parts.push(`page ${locator.page}`);
  else if (locator.heading?.length) parts.push(locator.heading.join(" › "));
  else if (locator.line) parts.push(`line ${locator.line}`);
  return parts.join(", ");
}

/** Where something lies, without those headings that its title names already. */
export function placeBeside(title, locator) {
  const heading = (locator.heading || []).filter((part) => !title.includes(part));
  return place({ ...locator, heading });
}

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
export const nameOf = (source) => ((source.title || "").trim() && !FILED.test(source.title.trim()) ? source.title.trim() : source.name || source.title || "Untitled");

/** What a citation is called, in the same way; the heading behind the title stays. */
export function titleOf({ title, locator }) {
  const [first, ...rest] = (title || "").split(" · ");
  return [nameOf({ title: first, name: locator?.file }), ...rest].join(" · ");
}

const GROUPS = [
  ["PDF", ["pdf"]],
  ["Web pages", ["html"]],
  ["Office files", ["docx", "pptx", "xlsx", "epub"]],
  ["Mail", ["eml"]],
  ["Tables and data", ["csv", "json", "items"]],
  ["Code", ["code", "notebook", "man"]],
  ["Pictures", ["image"]],
  ["Recordings", ["video", "audio", "transcript"]],
];

/** The kind of a source in words; what is none of the others is text. */
export function groupOf(source) {
  if (source.status === "failed") return "Could not be read";
  return GROUPS.find(([, kinds]) => kinds.includes(source.kind))?.[0] || "Text";
}
