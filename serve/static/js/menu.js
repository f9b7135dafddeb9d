// What concerns the page as a whole: how it looks and speaks, its keys, the models, and who uses it.

import { openDialog } from "./dialog.js";
import { h, toast, uid } from "./dom.js";
import { language, LANGUAGES, t } from "./i18n.js";
import { icon } from "./icons.js";
import { forgetKey } from "./login.js";
import { openModels } from "./models.js";
import { recall, remember } from "./prefs.js";
import { openShortcuts } from "./shortcuts.js";
import { state } from "./state.js";
import { setTheme, theme, THEMES } from "./theme.js";

/** Open the menu; `hide` folds the side away. */
export function openMenu(hide) {
  const way = (sign, text, click) => h("button.button", { type: "button", on: { click: () => (dialog.close(), click()) } }, icon(sign), text);
  const leave = () => forgetKey().catch((error) => toast(error.sentence, { bad: true }));
  const speak = (value) => {
    remember("language", value);
    window.location.reload();
  };
  const dialog = openDialog(
    t("menu"),
    [
      h("div.settings", {}, choice(t("theme"), THEMES.map((name) => [name, t(`theme.${name}`)]), theme(), setTheme), choice(t("side.language"), Object.entries(LANGUAGES), language, speak)),
      h(
        "div.choices.ways",
        {},
        way("keys", t("keys"), openShortcuts),
        state.me?.may_change && way("spark", t("models"), openModels),
        way("side", t("side.hide"), hide),
        recall("key") && way("leave", t("side.forget"), leave),
      ),
    ],
    { classes: "small" },
  );
}

function choice(label, options, value, set) {
  const id = uid("menu");
  const input = h("select.field", { id }, ...options.map(([name, text]) => h("option", { value: name, text })));
  input.value = value;
  input.addEventListener("change", () => set(input.value));
  return h("div.knob", {}, h("label", { for: id, text: label }), input);
}
