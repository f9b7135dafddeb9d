// Links that show an answer to whoever holds them, without a key: made, listed and taken back.

import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { copyText, fill, h, iconButton, toast, uid } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { day } from "./words.js";

const DAYS = [1, 7, 30, 90];

/** Offer links to an answer, and list those that there are. */
export function openShares({ thread, turn }) {
  const [what, long] = [uid("share"), uid("share")];
  const whole = h("select.field", { id: what }, h("option", { value: "turn", text: t("share.turn") }), h("option", { value: "thread", text: t("share.thread") }));
  const days = h("select.field", { id: long }, ...DAYS.map((n) => h("option", { value: n, text: t("share.days", { n }) })));
  days.value = "7";
  const wrong = h("p.wrong", { role: "alert" });
  const made = h("div.made", { role: "status" });
  const list = h("div");
  const knob = (id, text, input) => h("div.knob", {}, h("label", { for: id, text }), input);
  const form = h("form", {}, knob(what, t("share.what"), whole), knob(long, t("share.long"), days), wrong, h("div.choices", {}, h("button.button.primary", { type: "submit", text: t("share.make") })));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.textContent = "";
    try {
      const sent = { days: Number(days.value), ...(whole.value === "turn" ? { turn } : {}) };
      const { url } = await call("POST", `/api/threads/${encodeURIComponent(thread)}/share`, sent);
      const field = h("input.field", { value: url, readonly: true, "aria-label": t("share.link") });
      fill(made, h("p.fine", { text: t("share.once") }), h("div.copied", {}, field, iconButton(icon("copy"), t("share.copy"), () => copyText(field.value))));
      field.select();
      await draw(list);
    } catch (error) {
      wrong.textContent = error.sentence || String(error.message);
    }
  });
  openDialog(t("share"), [h("p.fine", { text: t("share.tell") }), form, made, list], { classes: "shares" });
  draw(list);
}

async function draw(list) {
  try {
    const { shares } = await call("GET", "/api/shares");
    const rows = shares.map((one) => h("li", {}, h("span.words", {}, h("span.name", { text: one.title, dir: "auto" }), h("span.fine", { text: t("share.until", { day: day(one.expires) }) })), iconButton(icon("trash"), t("share.end", { name: one.title }), () => end(one, list), "bare.small")));
    fill(list, rows.length ? h("h3", { text: t("share.all") }) : null, rows.length ? h("ul.rows", { role: "list" }, ...rows) : null);
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
}

async function end({ id }, list) {
  try {
    await call("DELETE", `/api/shares/${encodeURIComponent(id)}`);
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
  await draw(list);
  list.closest("dialog")?.querySelector("select").focus();
}
