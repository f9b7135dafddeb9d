// A picture with its box, and a recording at its second.

import { call } from "./api.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { t } from "./i18n.js";
import { icon, iconOf } from "./icons.js";
import { itemAddress, quoted } from "./panel.js";
import { save } from "./save.js";
import { transcript } from "./transcript.js";
import { lay } from "./view_page.js";
import { clock, span } from "./words.js";

/** A button that saves the recordings' cited moments as one film; nothing where an answer cites none. */
export function filmButton({ citations }, title) {
  const cited = citations.filter(({ open }) => open?.view === "video" && open.kind !== "transcript" && open.end > open.start).slice(0, 20);
  if (!cited.length) return null;
  const moments = cited.map(({ id, open }) => ({ id: id.split("#")[0], start: open.start, end: open.end }));
  const sent = { method: "POST", body: JSON.stringify({ moments }), headers: { "Content-Type": "application/json" } };
  const button = iconButton(icon("video"), t("media.film"), async () => {
    button.disabled = true;
    toast(t("media.film.wait"));
    await save(cited[0].open.media.replace(/\/source\/.*/, "/film"), title, "mp4", sent);
    button.disabled = false;
  }, "bare.small");
  return button;
}

/** Show a picture with the cited box over it, and the words that were read in it. */
export async function pictureView(citation, body) {
  const { picture, media, bbox } = citation.open;
  const image = h("img", { alt: citation.title || t("media.cited") });
  const box = h("span.box", { hidden: true });
  const frame = h("div.sheet-frame", { tabindex: "0", role: "region", "aria-label": t("media.picture") }, h("div.sheet.seen", {}, image, box));
  const sheet = frame.firstChild;
  fill(body, frame, quoted(citation));
  image.src = picture || media;
  try {
    await image.decode();
  } catch {
    fill(frame, h("p.waiting.fine", { text: t("media.broken") }));
    return;
  }
  if (bbox) {
    const [x0, y0, x1, y1] = bbox;
    const [width, height] = [image.naturalWidth, image.naturalHeight];
    lay(box, [x0 / width, y0 / height, (x1 - x0) / width, (y1 - y0) / height]);
    // A small part is brought near enough to be read.
    const near = Math.min(4, 0.9 / Math.max((x1 - x0) / width, (y1 - y0) / height, 0.01));
    const whole = h("button.button.small", { type: "button", text: t("media.whole"), "aria-pressed": "false" });
    const zoom = (is) => {
      sheet.style.width = `${is ? near * 100 : 100}%`;
      whole.setAttribute("aria-pressed", String(!is));
      box.scrollIntoView({ block: "center", inline: "center" });
    };
    whole.addEventListener("click", () => zoom(whole.getAttribute("aria-pressed") === "true"));
    if (near > 1.2) frame.before(h("div.view-tools", {}, h("span.grow"), whole));
    zoom(near > 1.2);
  }
  body.append(await words(citation, t("media.words")));
}

/** Play a recording from the cited second; the end of the passage is marked, and playing stops there once. */
export async function videoView(citation, body) {
  const { media, start = 0, end, kind, picture } = citation.open;
  if (kind === "transcript") return spoken(citation, body);
  const sound = iconOf(kind) === "audio";
  const player = h(sound ? "audio" : "video", { controls: true, preload: "metadata", playsinline: true, "aria-label": t("media.at", { title: citation.title, time: clock(start) }), poster: sound ? null : picture });
  const strip = h("span.strip-part");
  const now = h("span.strip-now");
  const bar = h("div.strip", { "aria-hidden": "true" }, strip, now);
  const told = h("p.fine.number", { role: "status" });
  const play = h("button.button.primary.small", { type: "button", on: { click: again } }, icon("play"), t("media.play", { span: span(start, end) }));
  const cited = end > start;
  bar.hidden = play.hidden = !cited; // a recording opened from its beginning
  let within = true; // still inside the cited passage on the first way through

  function again() {
    within = true;
    player.currentTime = start;
    player.play().catch(() => {});
  }
  player.addEventListener("loadedmetadata", () => {
    player.currentTime = start;
    const whole = player.duration || 1;
    const to = end === undefined || end <= start ? start : end;
    strip.style.insetInlineStart = `${(start / whole) * 100}%`;
    strip.style.inlineSize = `${Math.max(0.8, ((to - start) / whole) * 100)}%`;
    if (cited) told.textContent = t("media.stands", { span: span(start, end), whole: clock(whole) });
  });
  player.addEventListener("timeupdate", () => {
    now.style.insetInlineStart = `${(player.currentTime / (player.duration || 1)) * 100}%`;
    if (within && cited && player.currentTime >= end && !player.paused) {
      within = false;
      player.pause();
      told.textContent = t("media.ends", { time: clock(end) });
    }
  });
  player.addEventListener("seeked", () => {
    within = player.currentTime < end;
  });
  player.addEventListener("error", () => {
    player.replaceWith(picture ? h("img.still", { src: picture, alt: t("media.frame", { title: citation.title, time: clock(start) }) }) : "");
    bar.hidden = true;
    play.hidden = true;
    told.textContent = t("media.unplayed", { span: span(start, end) });
  });
  player.src = `${media}#t=${start}`;
  fill(body, h("div.player", { class: sound ? "sound" : "" }, player), bar, h("div.view-tools", {}, play, told), quoted(citation));
  const said = await transcript(citation, (second) => {
    within = false;
    player.currentTime = second;
    player.play().catch(() => {});
  });
  player.addEventListener("timeupdate", () => said.at(player.currentTime));
  body.append(said.element, cited ? await words(citation, t("media.said")) : "");
  return {
    leave() {
      player.pause();
      player.removeAttribute("src");
      player.load();
    },
  };
}

/** A transcript without its recording: the words, and the time at which they are said. */
async function spoken(citation, body) {
  const { start = 0, end } = citation.open;
  const cited = end > start && [h("p.fine", { text: t("media.transcript", { span: span(start, end) }) }), await words(citation, t("media.said.only")), quoted(citation)];
  fill(body, ...(cited || []), (await transcript(citation, null)).element);
}

async function words(citation, title) {
  try {
    const { text } = await call("GET", itemAddress(citation));
    if (!text.trim() || text.trim() === citation.quote.trim()) return "";
    return h("details.words-of", { open: text.length < 1500 }, h("summary", { text: title }), h("p.text", { text, dir: "auto" }));
  } catch {
    return "";
  }
}
