// The models that are set up, what chose each, and a button that tries it. Keys are not shown, nor can they be written here.

import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { lasted } from "./words.js";

const CHAT = ["writer", "reasoner", "judge", "check", "vision"];
const EXAMPLES = [["RAGWEAVE_CHAT=openai:gpt-4o-mini", "RAGWEAVE_CHAT_KEY=sk-…"], ["RAGWEAVE_CHAT=qwen3:4b", "RAGWEAVE_CHAT_URL=http://127.0.0.1:11434/v1"]];

/** Open the list of models. */
export async function openModels() {
  const list = h("ul.rows.models", { role: "list" }, h("li.fine", { text: t("opening") }));
  const how = h("div");
  openDialog(t("models"), [how, list], { classes: "wide" });
  try {
    const { roles, writers } = await call("GET", "/api/models");
    const told = writers.length ? roles : roles.filter(({ role, own }) => own || !CHAT.includes(role));
    fill(how, ...(writers.length ? [h("p.fine", {}, `${t("models.tell")} `, h("code", { text: "ragweave setup" }))] : setUp()));
    fill(list, ...told.flatMap((role) => (role.role === "writer" && writers.length ? writers.map((name, n) => row({ ...role, model: name, also: n > 0 })) : [row(role)])));
  } catch (error) {
    fill(list, h("li.wrong", { text: error.sentence || String(error.message) }));
  }
}

/** What to write where, so that a language model answers. */
function setUp() {
  return [
    h("p", { text: t("models.extractive") }),
    h("p.fine", { text: t("models.how") }),
    ...EXAMPLES.map((lines) => h("div.sent", {}, ...lines.map((line) => h("div", {}, h("code", { text: line }))))),
    h("p.fine", {}, `${t("models.or")} `, h("code", { text: "ragweave setup" })),
  ];
}

/** Why a role has its model. */
function why({ role, own, also, variable }) {
  if (also) return t("models.also", { variable: "RAGWEAVE_CHATS" });
  if (own) return t("models.own", { variable });
  return t(CHAT.includes(role) ? "models.writer" : "models.ships", { variable });
}

function row(told) {
  const { role, model, host, key, test, also } = told;
  const facts = [model, host, key && t("models.key")].filter(Boolean).join(" · ");
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
  return h("li", {}, h("span.words", {}, h("span.name", { text: t(`role.${role}`) }), h("span", { text: facts, dir: "auto" }), h("span.fine", { text: why(told) }), status), test && button);
}
