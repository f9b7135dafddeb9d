// What a reader thinks of an answer: a thumb up or down, with a reason; `ragweave eval answers` reads what was said.

import { call } from "./api.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";

const WHY = ["wrong", "other", "missing", "source", "should"];

/**
 * Two thumbs, and a line for the reason where the answer was not good.
 * @param {{thread: string, turn: number}} place of the turn on the server
 * @param {{good: boolean, reason: string}|null} said what was said before
 */
export function thumbsOf(place, said) {
  let now = said;
  const box = h("span.thumbs-of", { role: "group", "aria-label": t("verdict") });
  const why = h("div.why");

  async function keep(good, reason = "") {
    try {
      await call("PUT", `/api/threads/${encodeURIComponent(place.thread)}/turns/${place.turn}/verdict`, { good, reason });
      now = good === null ? null : { good, reason };
    } catch (error) {
      toast(error.sentence, { bad: true });
    }
    draw();
  }

  function thumb(good) {
    const on = now?.good === good;
    const button = iconButton(icon(good ? "up" : "thumbdown"), t(good ? "verdict.good" : "verdict.bad"), async () => {
      await keep(on ? null : good);
      if (!good && !on) ask();
      box.children[good ? 0 : 1].focus();
    }, "bare.small");
    button.setAttribute("aria-pressed", String(on));
    return button;
  }

  function ask() {
    const input = h("input.field", { type: "text", maxlength: "2000", placeholder: t("verdict.why"), "aria-label": t("verdict.why"), dir: "auto" });
    const form = h("form.reason", {}, h("div.choices", {}, ...WHY.map((why) => t(`verdict.${why}`)).map((text) => h("button.button.small", { type: "button", text, on: { click: () => keep(false, text) } }))), input, h("button.button.small.primary", { type: "submit", text: t("keep") }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      keep(false, input.value.trim());
    });
    fill(why, form);
  }

  function draw() {
    fill(box, thumb(true), thumb(false));
    fill(why, now && !now.good && now.reason ? h("p.fine", { text: t("verdict.told", { reason: now.reason }), dir: "auto" }) : null);
  }

  draw();
  return { thumbs: box, why };
}
