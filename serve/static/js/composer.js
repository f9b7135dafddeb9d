// Where a question is written.

import { answering, ask, stop } from "./conversation.js";
import { fill, h, iconButton } from "./dom.js";
import { icon } from "./icons.js";
import { PictureTray } from "./pictures.js";
import { openSettings } from "./settings.js";
import { knob, on, onlySources, setKnob, setOnlySources, state } from "./state.js";
import { pickFiles } from "./upload.js";

const WEB = { off: "Web off", ask: "Web: ask me", auto: "Web on" };
const NEXT_WEB = { off: "ask", ask: "auto", auto: "off" };

const input = h("textarea", { id: "question", rows: "1", placeholder: "Ask your library", "aria-label": "Question", dir: "auto", enterkeyhint: "send" });
const send = h("button.send", { type: "submit", "aria-label": "Ask", title: "Ask (Enter)" }, icon("send"));
const web = h("button.bare", { type: "button", on: { click: () => setKnob("web", NEXT_WEB[knob("web")]) } });
const changed = h("button.bare", { type: "button", "aria-haspopup": "dialog", on: { click: openSettings } });
const only = h("button.bare.on", { type: "button", on: { click: () => setOnlySources([]) } });
const tray = new PictureTray(() => draw());
const form = h(
  "form.composer",
  { "aria-label": "Ask" },
  tray.element,
  tray.picker,
  input,
  h("div.tools", {}, iconButton(icon("clip"), "Add files to the library", pickFiles), iconButton(icon("picture"), "Ask with a picture (or paste one)", () => tray.pick()), web, changed, only, h("span.grow"), send),
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
  send.setAttribute("aria-label", busy ? "Stop" : "Ask");
  send.title = busy ? "Stop (Ctrl+.)" : "Ask (Enter)";
  send.disabled = !busy && !input.value.trim();
  if (send.dataset.busy !== String(busy)) fill(send, icon(busy ? "stop" : "send"));
  send.dataset.busy = String(busy);
}

function drawTools() {
  const name = state.library?.name;
  input.placeholder = name && name !== "default" ? `Ask “${name}”` : "Ask your library";
  const mode = knob("web") || "off";
  fill(web, icon("globe"), h("span", { text: WEB[mode] }));
  web.classList.toggle("on", mode !== "off");
  web.title = "Web search: off, after your consent, or when needed";
  const few = onlySources().length;
  only.hidden = !few;
  fill(only, h("span", { text: `only ${few} source${few === 1 ? "" : "s"}` }), icon("close"));
  only.title = "Search all sources again";
  const count = Object.keys(state.settings).filter((name_) => name_ !== "web").length + (state.graph === state.usualGraph ? 0 : 1);
  fill(changed, icon("sliders"), h("span", { text: count ? `${count} changed` : "Settings" }));
  changed.classList.toggle("on", count > 0);
}
