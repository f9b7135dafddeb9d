// The models that are set up, each with a button that tries it. Keys are not shown, nor can they be written here.

import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { fill, h } from "./dom.js";
import { t } from "./i18n.js";
import { lasted } from "./words.js";

/** Open the list of models. */
export async function openModels() {
  const list = h("ul.rows.models", { role: "list" }, h("li.fine", { text: t("opening") }));
  openDialog(t("models"), [h("p.fine", {}, `${t("models.tell")} `, h("code", { text: "ragweave setup" })), list], { classes: "wide" });
  try {
    const { roles } = await call("GET", "/api/models");
    fill(list, ...roles.map(row));
  } catch (error) {
    fill(list, h("li.wrong", { text: error.sentence || String(error.message) }));
  }
}

function row({ role, model, host, key, test }) {
  const facts = [model || t("models.none"), host, key && t("models.key")].filter(Boolean).join(" · ");
  const told = h("span.fine", { role: "status" });
  const button = h("button.button.small", { type: "button", text: t("models.test"), "aria-label": t("models.test.role", { role: t(`role.${role}`) }) });
  button.addEventListener("click", async () => {
    button.disabled = true;
    told.className = "fine";
    told.textContent = t("models.trying");
    try {
      const { said, seconds } = await call("POST", `/api/models/${role}/test`, {});
      told.textContent = t(role === "embed" ? "models.encoded" : "models.said", { said, time: lasted(seconds) });
    } catch (error) {
      told.className = "wrong";
      told.textContent = error.sentence || String(error.message);
    } finally {
      button.disabled = false;
    }
  });
  return h("li", {}, h("span.words", {}, h("span.name", { text: t(`role.${role}`) }), h("span.fine", { text: facts, dir: "auto" }), told), test ? button : null);
}
