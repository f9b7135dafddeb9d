// A proof to send: an answer, a conversation or notes as one file, made by the server.

import { fetchFile } from "./api.js";
import { openDialog } from "./dialog.js";
import { h, toast } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";

const ENDINGS = { html: "html", markdown: "md" };

/** Offer an answer, or a whole conversation where no turn is named. */
export const saveProof = ({ thread, turn = null }, title) => offer(`/api/threads/${encodeURIComponent(thread)}/proof`, turn ? { turn } : {}, title);

/** Ask for the form of the proof at an address, and save it under a title. */
export function offer(path, given, title) {
  const way = (form) => h("li.way", {}, h("button.button", { type: "button", on: { click: () => (dialog.close(), save(`${path}?${new URLSearchParams({ ...given, form })}`, title, ENDINGS[form])) } }, icon("file"), t(`proof.${form}`)), h("p.fine", { text: t(`proof.${form}.tell`) }));
  const dialog = openDialog(t("proof"), [h("p.fine", { text: t("proof.tell") }), h("ul", { role: "list" }, ...Object.keys(ENDINGS).map(way))], { classes: "small" });
}

async function save(path, title, ending) {
  try {
    const response = await fetchFile(path);
    const address = URL.createObjectURL(await response.blob());
    const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "answer";
    h("a", { href: address, download: `${name}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    toast(error.sentence || String(error.message), { bad: true });
  }
}
