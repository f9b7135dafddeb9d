// What can be added to the library: files, a folder, a page of the web, a pasted text; and to the question: a picture or a file.

import { openDialog } from "./dialog.js";
import { h, uid } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { state } from "./state.js";
import { fetchAddress, LOADERS, pickExport, pickFiles, pickFolder, send } from "./upload.js";

const TITLE = 80; // characters of a text's first line that name its file

/** Open the ways to add something; `picture` and `file` have one chosen that goes with the question. */
export function openAdd(picture, file) {
  const close = () => dialog.close();
  const pick = (sign, text, click) => h("button.button", { type: "button", on: { click: () => (close(), click()) } }, icon(sign), text);
  const url = h("input.field", { type: "url", required: true, maxlength: "2000", inputmode: "url" });
  const kind = h("select.field", {}, ...LOADERS.map((name) => h("option", { value: name, text: t(`loader.${name}`) })));
  const text = h("textarea.field", { rows: "6", required: true, dir: "auto" });
  const dialog = openDialog(t("add", { library: state.library.name }), [
    h("div.choices.ways", {}, pick("file", t("add.files"), pickFiles), pick("upload", t("add.folder"), pickFolder)),
    form(t("add.url"), url, t("add.fetch"), t("add.url.tell"), async () => {
      await fetchAddress(url.value.trim());
      close();
    }),
    form(t("add.export"), kind, t("add.choose"), t("add.export.tell"), async () => {
      close();
      pickExport(kind.value);
    }),
    form(t("add.text"), text, t("add.keep"), t("add.text.tell"), async () => {
      sendText(text.value);
      close();
    }),
    picture && h("div.choices.ways", {}, pick("picture", t("composer.picture"), picture), pick("file", t("composer.file"), file)),
  ]);
}

/** Index a text as a file that is named by its first line. */
function sendText(text) {
  const title = text.trim().split("\n", 1)[0].replace(/^#+ */, "").slice(0, TITLE);
  send([new File([text], `${title.replace(/[./\\$\s]+/g, " ").trim() || t("add.untitled")}.md`, { type: "text/markdown" })]);
}

/** One way that is a field and its button; what goes wrong is said below it. */
function form(label, field, verb, tell, act) {
  field.id = uid("add");
  const wrong = h("p.wrong", { role: "alert" });
  const button = h("button.button", { type: "submit", text: verb });
  const made = h("form.way", {}, h("label", { for: field.id, text: label }), h("div.with", {}, field, button), h("p.fine", { text: tell }), wrong);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.textContent = "";
    button.disabled = true;
    try {
      await act();
    } catch (error) {
      wrong.textContent = error.sentence || String(error.message);
    } finally {
      button.disabled = false;
    }
  });
  return made;
}
