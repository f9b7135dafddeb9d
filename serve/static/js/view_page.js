// A page of a PDF: drawn by the server, the cited lines marked, its text over it to be selected, and a search in the file.

import { call, fetchFile } from "./api.js";
import { fill, h, iconButton } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { quoted, widen } from "./panel.js";

/** Lay a box over a picture, wider by some pixels than what it holds: left, top, width and height as shares of it. */
export function lay(box, [left, top, width, height], rim = 5) {
  const at = (share) => `calc(${share * 100}% - ${rim}px)`;
  const long = (share) => `calc(${share * 100}% + ${2 * rim}px)`;
  Object.assign(box.style, { left: at(left), top: at(top), width: long(width), height: long(height) });
  box.hidden = false;
}

/** Show the cited page; the reader can leaf through the others, search in them, and select their text. */
export async function pageView(citation, body) {
  const { media, page: cited = 1, bbox } = citation.open;
  const stop = new AbortController();
  let address = "";
  let at = cited;
  let hits = [];
  let hit = -1;
  let text = { lines: [], marks: [] };
  let asked = 0;

  const picture = h("img", { alt: "" });
  const marks = h("div.marks");
  const letters = h("div.letters", { dir: "auto" });
  const sheet = h("div.sheet", {}, picture, marks, letters);
  const where = h("span.number", { "aria-live": "polite" });
  const back = iconButton(icon("left"), t("pdf.before"), () => turn(at - 1));
  const on = iconButton(icon("right"), t("pdf.next"), () => turn(at + 1));
  const home = h("button.button.small", { type: "button", text: t("pdf.back"), on: { click: () => turn(cited) } });
  const large = h("button.button.small", { type: "button", text: t("pdf.larger"), "aria-pressed": "false", on: { click: zoom } });
  const frame = h("div.sheet-frame", { tabindex: "0", role: "region", "aria-label": t("pdf.page") }, sheet);
  const field = h("input.field.small", { type: "search", placeholder: t("pdf.find"), "aria-label": t("pdf.find"), maxlength: "200" });
  const found = h("span.fine.number", { role: "status" });
  const before = iconButton(icon("left"), t("pdf.hit.before"), () => toHit(hit - 1));
  const after = iconButton(icon("right"), t("pdf.hit.next"), () => toHit(hit + 1));
  const finder = h("form.finder", { role: "search" }, field, found, before, after);
  before.hidden = after.hidden = true;

  async function turn(n, boxes = null) {
    const mine = (asked += 1);
    const told = new URLSearchParams();
    if (n === cited && !boxes) {
      if (bbox) told.set("box", bbox.join(","));
      if (citation.quote) told.set("quote", citation.quote.slice(0, 2000));
    }
    const options = { signal: stop.signal };
    const [response, read] = await Promise.all([
      fetchFile(`${media}/page/${n}?width=1600`, options),
      call("GET", `${media}/page/${n}/text?${told}`, undefined, options).catch(() => ({ lines: [], marks: [] })),
    ]);
    const blob = await response.blob();
    if (mine !== asked) return;
    URL.revokeObjectURL(address);
    address = URL.createObjectURL(blob);
    picture.src = address;
    picture.alt = t("pdf.alt", { n, title: citation.title });
    await picture.decode().catch(() => {});
    at = n;
    sheet.dataset.page = n;
    text = read;
    const count = Number(response.headers.get("X-Page-Count")) || n;
    where.textContent = t("pdf.of", { at, count });
    back.disabled = at <= 1;
    on.disabled = at >= count;
    home.hidden = at === cited;
    write();
    mark(boxes || read.marks);
  }

  function mark(boxes) {
    fill(marks, ...boxes.map(() => h("span.box.line")));
    boxes.forEach((box, n) => lay(marks.children[n], box, 1));
    if (boxes.length) marks.firstChild.scrollIntoView({ block: "center", inline: "nearest" });
  }

  /** Put the text of each line where the picture shows it; it is not seen, but selected and copied. */
  function write() {
    // A break between two lines parts their words in what is copied.
    fill(letters, ...text.lines.flatMap((line) => [h("span", { text: line.text }), h("br")]), h("span.last"));
    text.lines.forEach((line, n) => lay(spans()[n], line.box, 0));
    fit();
  }

  const spans = () => [...letters.querySelectorAll("span:not(.last)")];

  function fit() {
    const [across, down] = [sheet.clientWidth, sheet.clientHeight];
    const lines = spans();
    lines.forEach((span, n) => Object.assign(span.style, { width: "max-content", transform: "none", fontSize: `${text.lines[n].box[3] * down * 0.8}px` }));
    const wide = lines.map((span) => span.offsetWidth);
    lines.forEach((span, n) => wide[n] && (span.style.transform = `scaleX(${(text.lines[n].box[2] * across) / wide[n]})`));
  }

  /** Bring the text of the page, without its margins, to the width of the panel. No line is cut. */
  function zoom() {
    const is = widen();
    large.setAttribute("aria-pressed", String(is));
    large.textContent = t(is ? "pdf.fit" : "pdf.larger");
    settle();
  }

  function settle() {
    const is = large.getAttribute("aria-pressed") === "true";
    const boxes = text.lines.map((line) => line.box);
    const left = Math.min(...boxes.map(([x]) => x), 0.45);
    const right = Math.max(...boxes.map(([x, , width]) => x + width), 0.55);
    const near = is && boxes.length ? 0.96 / (right - left) : 1;
    sheet.style.width = `${Math.max(1, near) * 100}%`;
    fit();
    frame.scrollLeft = is ? (left - 0.02 * (right - left)) * sheet.clientWidth : 0;
    marks.firstChild?.scrollIntoView({ block: "center", inline: "nearest" });
  }

  async function toHit(n) {
    if (!hits.length) return;
    hit = (n + hits.length) % hits.length;
    const { page } = hits[hit];
    found.textContent = t("pdf.hits", { at: hit + 1, n: hits.length });
    const boxes = hits.filter((row) => row.page === page && row !== hits[hit]).flatMap((row) => row.marks);
    const shown = [...hits[hit].marks, ...boxes];
    if (page === at) mark(shown);
    else await turn(page, shown);
    marks.firstChild?.classList.add("now");
  }

  field.addEventListener("input", () => {
    if (field.value) return;
    [hits, found.textContent, before.hidden, after.hidden] = [[], "", true, true];
    mark(at === cited ? text.marks : []);
  });
  finder.addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = field.value.trim();
    if (!words) return;
    if (hits.words === words) return void toHit(hit + 1);
    found.textContent = t("searching");
    try {
      const told = await call("GET", `${media}/find?${new URLSearchParams({ words })}`, undefined, { signal: stop.signal });
      hits = Object.assign(told.hits, { words });
      before.hidden = after.hidden = hits.length < 2;
      if (!hits.length) found.textContent = told.searched < told.count ? t("pdf.none.part", { n: told.searched }) : t("pdf.none");
      else await toHit(Math.max(0, hits.findIndex((row) => row.page >= at)));
    } catch (error) {
      if (error.name !== "AbortError") found.textContent = error.sentence || t("pdf.unsearched");
    }
  });

  const sized = new ResizeObserver(() => fit());
  const leave = () => {
    stop.abort();
    sized.disconnect();
    URL.revokeObjectURL(address);
  };
  fill(body, h("div.view-tools", {}, back, where, on, h("span.grow"), home, large), finder, frame, quoted(citation));
  try {
    await turn(at);
    sized.observe(sheet);
    if (widen(null)) {
      large.setAttribute("aria-pressed", "true");
      large.textContent = t("pdf.fit");
      settle();
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
  return { leave };
}
