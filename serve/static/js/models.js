// The models that are set up, what chose each, a button that tries it and one that sets up another. Keys are never shown.

import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { openModelForm } from "./model_form.js";
import { lasted } from "./words.js";

const CHAT = ["writer", "reasoner", "judge", "check", "vision"];
const PARTS = { writer: "chat", vision: "vision", embed: "encoder", rerank: "reranker", asr: "speech" };

let list = null;
let how = null;

/** Open the list of models. */
export function openModels() {
  list = h("ul.rows.models", { role: "list" }, h("li.fine", { text: t("opening") }));
  how = h("div");
  openDialog(t("models"), [how, list], { classes: "wide" });
  return draw();
}

async function draw() {
  try {
    const { roles, writers } = await call("GET", "/api/models");
    const told = writers.length ? roles : roles.filter(({ role, own }) => own || !CHAT.includes(role));
    const pictures = h("li", {}, h("span.words", {}, h("span.name", { text: t("models.pictures") })), change("pictures", t("models.pictures")));
    fill(how, ...(writers.length ? [h("p.fine", {}, `${t("models.tell")} `, h("code", { text: "ragweave setup" }))] : setUp()));
    fill(list, ...told.flatMap((role) => (role.role === "writer" && writers.length ? writers.map((name, n) => row({ ...role, model: name, also: n > 0 })) : [row(role)])), pictures);
  } catch (error) {
    fill(list, h("li.wrong", { text: error.sentence || String(error.message) }));
  }
}

/** The way to a language model, where there is none. */
function setUp() {
  return [
    h("p", { text: t("models.extractive") }),
    h("div.choices.ways", {}, h("button.button.primary", { type: "button", "aria-haspopup": "dialog", text: t("models.setup"), on: { click: () => openModelForm("chat", draw) } })),
  ];
}

/** A button that opens the form of what a role is set by; "" for a role that follows the one that writes. */
function change(part, name) {
  return part && h("button.button.small", { type: "button", "aria-haspopup": "dialog", text: t("models.change"), "aria-label": t("models.change.role", { role: name }), on: { click: () => openModelForm(part, draw) } });
}

/** Why a role has its model. */
function why({ role, own, also, absent, variable }) {
  if (absent) return t("models.absent");
  if (also) return t("models.also", { variable: "RAGWEAVE_CHATS" });
  if (own) return t("models.own", { variable });
  return t(CHAT.includes(role) ? "models.writer" : "models.ships", { variable });
}

function row(told) {
  const { role, model, host, key, test, also } = told;
  const facts = [told.absent ? "" : model, host, key && t("models.key")].filter(Boolean).join(" · ");
  const status = h("span.fine", { role: "status" });
  const name = also ? model : t(`role.${role}`);
  const button = h("button.button.small", { type: "button", text: t("models.test"), "aria-label": t("models.test.role", { role: name }) });
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.className = "fine";
    status.textContent = t("models.trying");
    try {
      const { said, seconds } = await call("POST", `/api/models/${role}/test`, { model: also ? model : "" });
      const how = { embed: "models.encoded", rerank: "models.ordered" }[role] || "models.said";
      status.textContent = t(how, { said, time: lasted(seconds) });
    } catch (error) {
      status.className = "wrong";
      status.textContent = error.sentence || String(error.message);
    } finally {
      button.disabled = false;
    }
  });
  return h("li", {}, h("span.words", {}, h("span.name", { text: t(`role.${role}`) }), h("span", { text: facts, dir: "auto" }), h("span.fine", { text: why(told) }), status), test && button, !also && change(PARTS[role], t(`role.${role}`)));
}
