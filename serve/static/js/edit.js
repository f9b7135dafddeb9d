// A question written otherwise: its answer replaces the one that stands here and all below.

import { fill, h, iconButton, uid } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";

/**
 * The heading of a turn with a pen that turns it into a field.
 * @param {string} question what was asked
 * @param {{ready: () => boolean, replace: (question: string) => void}} doing what becomes of
 *   another question; `ready` tells whether this one can be edited now
 * @returns {{box: Element, write: (text: string, focus?: boolean) => void, words: () => string|null}} `write` opens the field with a text,
 *   and `words` tells what stands in it, null where it is closed
 */
export function editable(question, doing) {
  const box = h("div.asked-box");
  const pen = iconButton(icon("pen"), t("edit"), () => doing.ready() && write(), "bare.small.edit");
  const heading = h("h2", { text: question, dir: "auto" });
  const show = () => fill(box, heading, pen);

  function write(text = question, focus = true) {
    const id = uid("edit");
    const input = h("textarea.field", { id, rows: "2", dir: "auto", "aria-label": t("edit.field") });
    input.value = text;
    const close = () => {
      show();
      pen.focus();
    };
    const go = () => {
      const asked = input.value.trim();
      return asked ? doing.replace(asked) : input.focus();
    };
    const button = (text, look, title, click) => h(`button.button.small${look}`, { type: look ? "submit" : "button", text, title, on: look ? {} : { click } });
    const form = h(
      "form.edit-form",
      { "aria-label": t("edit.form") },
      input,
      h("div.choices", {}, button(t("cancel"), "", t("edit.leave"), close), button(t("replace"), ".primary", t("edit.replace.tell"))),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      go();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && event.target === input && !event.isComposing) {
        event.preventDefault();
        go();
      } else if (event.key === "Escape") {
        event.stopPropagation();
        close();
      }
    });
    fill(box, form);
    if (focus) input.focus();
  }

  show();
  return { box, write, words: () => box.querySelector("textarea")?.value ?? null };
}
