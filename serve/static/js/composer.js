// Where a question is written.

import { openAdd } from "./add.js";
import { answering, ask, stop } from "./conversation.js";
import { fill, h, iconButton } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { modelChoice } from "./models.js";
import { PictureTray } from "./pictures.js";
import { openSettings } from "./settings.js";
import { knob, on, onlySources, setKnob, setOnlySources, state } from "./state.js";

const NEXT_WEB = { off: "ask", ask: "auto", auto: "off" };

const input = h("textarea", { id: "question", rows: "1", placeholder: t("composer.place"), "aria-label": t("composer.question"), dir: "auto", enterkeyhint: "send" });
const send = h("button.send", { type: "submit", "aria-label": t("composer.ask"), title: t("composer.ask.keys") }, icon("send"));
const web = h("button.bare", { type: "button", on: { click: () => setKnob("web", NEXT_WEB[knob("web")]) } });
const changed = h("button.bare", { type: "button", "aria-haspopup": "dialog", on: { click: openSettings } });
const only = h("button.bare.on", { type: "button", on: { click: () => setOnlySources([]) } });
const who = h("span.who-place");
const tray = new PictureTray(() => draw());
const form = h(
  "form.composer",
  { "aria-label": t("composer.ask") },
  tray.element,
  tray.picker,
  input,
  h("div.tools", {}, iconButton(icon("clip"), t("composer.files"), openAdd), iconButton(icon("picture"), t("composer.picture"), () => tray.pick()), web, who, changed, only, h("span.grow"), send),
);

/** Build the composer. */
export function buildComposer() {
  who.replaceWith(modelChoice());
  fill(document.getElementById("composer"), form);
  input.addEventListener("input", grow);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!answering()) submit();
  });
  input.addEventListener("paste", (event) => {
    const pictures = [...event.clipboardData.files].filter((file) => file.type.startsWith("image/"));
    if (!pictures.length) return;
    event.preventDefault();
    tray.add(pictures);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (answering()) stop();
    else submit();
  });
  on("running thread", draw);
  on("settings libraries library", drawTools);
  draw();
  drawTools();
}

/** Put the cursor into the question. */
export const focusQuestion = () => input.focus();

async function submit() {
  const question = input.value.trim();
  if (!question) return;
  const pictures = tray.urls;
  input.value = "";
  tray.set([]);
  grow();
  if (await ask(question, pictures)) return;
  // What was refused is still there to be mended.
  input.value ||= question;
  if (!tray.urls.length) tray.set(pictures);
  grow();
}

function grow() {
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
  draw();
}

function draw() {
  const busy = answering();
  send.classList.toggle("stop", busy);
  send.setAttribute("aria-label", t(busy ? "composer.stop" : "composer.ask"));
  send.title = t(busy ? "composer.stop.keys" : "composer.ask.keys");
  send.disabled = !busy && !input.value.trim();
  if (send.dataset.busy !== String(busy)) fill(send, icon(busy ? "stop" : "send"));
  send.dataset.busy = String(busy);
}

function drawTools() {
  const name = state.library?.name;
  input.placeholder = name && name !== "default" ? t("composer.place.named", { name }) : t("composer.place");
  const mode = knob("web") || "off";
  fill(web, icon("globe"), h("span", { text: t(`composer.web.${mode}`) }));
  web.classList.toggle("on", mode !== "off");
  web.title = t("composer.web");
  const few = onlySources().length;
  only.hidden = !few;
  fill(only, h("span", { text: t("composer.only", { n: few }) }), icon("close"));
  only.title = t("composer.all");
  const count = Object.keys(state.settings).filter((name_) => !["web", "mode", "model"].includes(name_)).length + (state.graph === state.usualGraph ? 0 : 1);
  fill(changed, icon("sliders"), h("span", { text: count ? t("composer.changed", { n: count }) : t("composer.settings") }));
  changed.classList.toggle("on", count > 0);
}
