// What is said in a recording, line by line, with its chapters; a line or a chapter that is pressed is played.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { itemAddress } from "./panel.js";
import { clock } from "./words.js";

/**
 * The transcript of the recording that a citation stands in, or nothing where it has none.
 * @param {object} citation
 * @param {((second: number) => void)|null} play plays from a second; null where there is no recording to play
 * @returns {Promise<{element: Node|string, at: (second: number) => void}>} `at` marks what is said at a second
 */
export async function transcript(citation, play) {
  let told;
  try {
    told = await call("GET", `${itemAddress(citation)}/transcript`);
  } catch {
    return { element: "", at: () => {} };
  }
  if (told.lines.length < 2 && !told.chapters.length) return { element: "", at: () => {} };
  const { start = 0, end = start } = citation.open;
  told.lines = slides(told.lines);
  const lines = told.lines.map((line) => row(line, line.start < end && line.end > start, play));
  const title = t(told.lines.some((line) => line.shown) ? "transcript.both" : "transcript.said");
  const chapters = told.chapters.map((chapter) => row({ ...chapter, text: chapter.title }, chapter.start < end && chapter.end > start, play));
  const list = h("ol.lines", { "aria-label": title }, ...lines);
  const element = h(
    "section.transcript",
    { "aria-label": t("transcript") },
    chapters.length && h("h3", { text: t("transcript.chapters") }),
    chapters.length && h("ol.lines.chapters", { "aria-label": t("transcript.chapters") }, ...chapters),
    lines.length && h("h3", { text: title }),
    lines.length && list,
  );
  const marks = [follower(told.lines, lines), follower(told.chapters, chapters)];
  const at = (second) => marks.forEach((mark) => mark(second));
  const cited = lines.find((one) => one.classList.contains("here"));
  if (cited) requestAnimationFrame(() => (list.scrollTop = cited.offsetTop - list.offsetTop - 40));
  return { element, at };
}

/** Marks in a list what goes on at a second. */
function follower(told, rows) {
  let last = -1;
  return (second) => {
    const now = told.findLastIndex(({ start }) => start <= second + 0.05);
    if (now === last) return;
    rows[last]?.firstChild.removeAttribute("aria-current");
    const one = rows[(last = now)];
    one?.firstChild.setAttribute("aria-current", "time");
    // Within its own list, so that nothing else moves while it plays.
    const box = one?.parentElement;
    if (box && !box.matches(":hover, :focus-within")) box.scrollTop = one.offsetTop - box.offsetTop - box.clientHeight / 3;
  };
}

/** What came on the screen together as one line of the transcript. */
function slides(lines) {
  const made = [];
  for (const line of lines) {
    const last = made.at(-1);
    if (line.shown && last?.shown && last.start === line.start) last.text += `\n${line.text}`;
    else made.push({ ...line });
  }
  return made;
}

function row({ start, text, shown }, here, play) {
  const sign = shown && h("span.shown", { title: t("transcript.shown") }, icon("picture"), h("span.unseen", { text: t("transcript.shown") }));
  const parts = [h("time.number", { text: clock(start) }), h("span", {}, sign, h("bdi", { text, dir: "auto" }))];
  const line = play ? h("button.line", { type: "button", on: { click: () => play(start) } }, ...parts) : fill(h("div.line"), ...parts);
  return h("li", { class: here ? "here" : "" }, line);
}
