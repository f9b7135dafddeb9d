// Dialogs: one way to open, name and close them. The browser keeps the focus inside and gives it back.

import { h, iconButton } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";

let count = 0;

/**
 * Open a dialog.
 * @param {string} title its heading and name
 * @param {Node[]} content what it holds
 * @param {{classes?: string, onclose?: () => void}} options
 * @returns {HTMLDialogElement} it is removed when it closes
 */
export function openDialog(title, content, { classes = "", onclose = () => {} } = {}) {
  count += 1;
  const id = `dialog-${count}`;
  const dialog = h(
    "dialog.dialog",
    { class: classes, "aria-labelledby": id },
    h("div.dialog-head", {}, h("h2", { id, text: title }), iconButton(icon("close"), t("close"), () => dialog.close())),
    ...content,
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose();
  });
  // A click on the backdrop closes; one that began inside, such as a marked text, does not.
  dialog.addEventListener("pointerdown", (event) => {
    if (event.target !== dialog) return;
    const at = dialog.getBoundingClientRect();
    const inside = event.clientX >= at.left && event.clientX <= at.right && event.clientY >= at.top && event.clientY <= at.bottom;
    if (!inside) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Ask before something that cannot be undone; resolves to whether it is wanted. */
export function confirm(title, text, verb) {
  return new Promise((resolve) => {
    let agreed = false;
    const choose = (is) => () => {
      agreed = is;
      dialog.close();
    };
    const dialog = openDialog(
      title,
      [
        h("p", { text, dir: "auto" }),
        h("div.choices", {}, h("button.button", { type: "button", autofocus: true, text: t("cancel"), on: { click: choose(false) } }), h("button.button.danger.primary", { type: "button", text: verb, on: { click: choose(true) } })),
      ],
      { classes: "small", onclose: () => resolve(agreed) },
    );
  });
}

/** Ask for one line of text; resolves to it, or to null. `check` may throw a problem, which is shown. */
export function askText(title, { label, value = "", verb, save }) {
  const input = h("input.field", { type: "text", value, maxlength: "100", required: true, autocomplete: "off", "aria-label": label, placeholder: label, dir: "auto" });
  const wrong = h("p.wrong", { role: "alert" });
  const button = h("button.button.primary", { type: "submit", text: verb });
  const form = h("form", { method: "dialog" }, input, wrong, h("div.choices", {}, button));
  const dialog = openDialog(title, [form], { classes: "small" });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await save(input.value.trim());
      dialog.close();
    } catch (error) {
      wrong.textContent = error.sentence || error.message;
    } finally {
      button.disabled = false;
    }
  });
  input.select();
}
