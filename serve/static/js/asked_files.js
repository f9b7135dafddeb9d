// Files that are asked in this conversation alone: the server keeps them under ids, and chips above the question name them.

import { call } from "./api.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";

let files = []; // {id, name, sent} of this conversation; those that were not sent go with the next question
let uploads = Promise.resolve();
const picker = h("input", { type: "file", multiple: true, hidden: true, id: "asked-files", "aria-label": t("asked.choose") });
const chips = h("div.choices.asked", { hidden: true, role: "group", "aria-label": t("asked.files") });
picker.addEventListener("change", () => [...picker.files].forEach(add));

/** What the composer shows of them. */
export const askedFiles = [picker, chips];

/** Let the reader choose files for the question. */
export function pickAskedFiles() {
  picker.value = "";
  picker.click();
}

/** Show the files of another conversation. */
export function showAskedFiles(kept) {
  files = kept.map((file) => ({ ...file, sent: true }));
  draw();
}

/** The ids of the files that go with the next question, once they are there. */
export async function newAskedFiles() {
  await uploads;
  return files.filter((file) => !file.sent).map((file) => file.id);
}

/** Note that the server took the question with its files. */
export function sentAskedFiles() {
  for (const file of files) file.sent = true;
}

function add(file) {
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", file, file.name);
  uploads = uploads.then(async () => {
    try {
      const kept = await call("POST", "/v1/files", undefined, { body: form });
      files.push({ id: kept.id, name: kept.filename, sent: false });
      draw();
    } catch (error) {
      toast(error.sentence, { bad: true });
    }
  });
}

async function remove(file) {
  files = files.filter((other) => other !== file);
  draw();
  try {
    await call("DELETE", `/v1/files/${encodeURIComponent(file.id)}`);
  } catch (error) {
    if (error.status !== 404) toast(error.sentence, { bad: true });
  }
}

function draw() {
  chips.hidden = !files.length;
  const chip = (file) => h("span.chosen", {}, icon("file"), h("span", { text: file.name, dir: "auto" }), iconButton(icon("close"), t("asked.remove", { name: file.name }), () => remove(file), "bare.small"));
  fill(chips, ...files.map(chip));
}
