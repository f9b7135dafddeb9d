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
  const lines = told.lines.map((line) => row(line, line.start < end && line.end > start, play));
  const title = t(told.lines.some((line) => line.shown) ? "transcript.both" : "transcript.said");
  const chapters = told.chapters.map((chapter) => row({ ...chapter, text: chapter.title }, false, play));
  const list = h("ol.lines", { "aria-label": title }, ...lines);
  const element = h(
    "section.transcript",
    { "aria-label": t("transcript") },
    chapters.length && h("h3", { text: t("transcript.chapters") }),
    chapters.length && h("ol.lines.chapters", { "aria-label": t("transcript.chapters") }, ...chapters),
    lines.length && h("h3", { text: title }),
    lines.length && list,
  );
  let last = -1;
  const at = (second) => {
    const now = told.lines.findLastIndex((line) => line.start <= second + 0.05);
    if (now === last) return;
    lines[last]?.firstChild.removeAttribute("aria-current");
    lines[(last = now)]?.firstChild.setAttribute("aria-current", "time");
    const [one, box] = [lines[now], list];
    // Within its own list, so that nothing else moves while it plays.
    if (one && !box.matches(":hover, :focus-within")) box.scrollTop = one.offsetTop - box.offsetTop - box.clientHeight / 3;
  };
  const cited = lines.find((one) => one.classList.contains("here"));
  if (cited) requestAnimationFrame(() => (list.scrollTop = cited.offsetTop - list.offsetTop - 40));
  return { element, at };
}

function row({ start, text, shown }, here, play) {
  const sign = shown && h("span.shown", { title: t("transcript.shown") }, icon("picture"), h("span.unseen", { text: t("transcript.shown") }));
  const parts = [h("time.number", { text: clock(start) }), h("span", {}, sign, h("bdi", { text, dir: "auto" }))];
  const line = play ? h("button.line", { type: "button", on: { click: () => play(start) } }, ...parts) : fill(h("div.line"), ...parts);
  return h("li", { class: here ? "here" : "" }, line);
}
