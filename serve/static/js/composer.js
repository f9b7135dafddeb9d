// Where a question is written.

import { openAdd } from "./add.js";
import { askedFiles, pickAskedFiles } from "./asked_files.js";
import { answering, ask, stop } from "./conversation.js";
import { fill, h, iconButton } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { PictureTray } from "./pictures.js";
import { modelAsked, modelName, openSettings } from "./settings.js";
import { valueName } from "./knobs.js";
import { knob, on, onlySources, setOnlySources, state } from "./state.js";

const TOLD = ["web", "mode", "model", "effort"]; // settings that the composer names

const input = h("textarea", { id: "question", rows: "1", placeholder: t("composer.place"), "aria-label": t("composer.question"), dir: "auto", enterkeyhint: "send" });
const send = h("button.send", { type: "submit", "aria-label": t("composer.ask"), title: t("composer.ask.keys") }, icon("send"));
const how = h("button.bare.how", { type: "button", title: t("settings"), "aria-haspopup": "dialog", on: { click: openSettings } });
const only = h("button.bare.on", { type: "button", on: { click: () => setOnlySources([]) } });
const tray = new PictureTray(() => draw());
const form = h(
  "form.composer",
  { "aria-label": t("composer.ask") },
  tray.element,
  ...askedFiles,
  tray.picker,
  input,
  h("div.tools", {}, iconButton(icon("clip"), t("composer.add"), () => openAdd(() => tray.pick(), pickAskedFiles)), how, only, h("span.grow"), send),
);

/** Build the composer. */
export function buildComposer() {
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
  const few = onlySources().length;
  only.hidden = !few;
  fill(only, h("span", { text: t("composer.only", { n: few }) }), icon("close"));
  only.title = t("composer.all");
  const others = Object.keys(state.settings).filter((one) => !TOLD.includes(one)).length + (state.graph === state.usualGraph ? 0 : 1);
  const effort = modelAsked() && "effort" in state.form.schema.properties ? valueName("effort", knob("effort")) : "";
  const parts = [t(`composer.web.${knob("web") || "off"}`), effort, modelName(), others && t("composer.changed", { n: others })];
  fill(how, icon("sliders"), h("span", { text: parts.filter(Boolean).join(" · "), dir: "auto" }));
  how.classList.toggle("on", Object.keys(state.settings).length > 0 || state.graph !== state.usualGraph);
}
