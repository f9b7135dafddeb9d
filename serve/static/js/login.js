// The door of a locked server. The key goes to the server once, which keeps it in a cookie that no script can read.

import { call } from "./api.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";
import { remember } from "./prefs.js";

let open = false;

/** Ask for a key; the page starts anew once it fits. */
export function askForKey(problem) {
  if (open) return;
  open = true;
  const input = h("input.field", { type: "password", name: "key", required: true, autocomplete: "current-password", maxlength: "200", "aria-label": t("login.key"), placeholder: "rw_…" });
  const wrong = h("p.wrong", { role: "alert" });
  const button = h("button.button.primary", { type: "submit", text: t("login.open") });
  const form = h(
    "form.login",
    {},
    h("img", { src: "/static/mark.svg", alt: "" }),
    h("h1", { text: t("login.title") }),
    h("p.soft", {}, `${t("login.made")} `, h("code", { text: "ragweave keys create NAME --all" })),
    input,
    wrong,
    button,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    wrong.textContent = "";
    try {
      await call("POST", "/api/login", { key: input.value.trim() });
      remember("key", true);
      window.location.reload();
    } catch (error) {
      wrong.textContent = error.sentence || error.message;
      button.disabled = false;
      input.select();
    }
  });
  document.getElementById("app").hidden = true;
  document.body.append(h("div.door", {}, form));
  if (problem?.remedy && problem.message.includes("revoked")) wrong.textContent = problem.sentence;
  input.focus();
}

/** Forget the key in this browser. */
export async function forgetKey() {
  await call("POST", "/api/logout", {});
  remember("key", null);
  window.location.reload();
}
