// What a reader thinks of an answer: a thumb up or down, with a reason; `ragweave eval answers` reads what was said.

import { call } from "./api.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { icon } from "./icons.js";

const WHY = ["Wrong", "Not what I asked", "Something is missing", "Does not stand in its source", "It should have answered"];

/**
 * Two thumbs, and a line for the reason where the answer was not good.
 * @param {{thread: string, turn: number}} place of the turn on the server
 * @param {{good: boolean, reason: string}|null} said what was said before
 */
export function thumbsOf(place, said) {
  let now = said;
  const box = h("span.thumbs-of", { role: "group", "aria-label": "Was this answer good?" });
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
    const button = iconButton(icon(good ? "up" : "thumbdown"), good ? "A good answer" : "Not a good answer", async () => {
      await keep(on ? null : good);
      if (!good && !on) ask();
      box.children[good ? 0 : 1].focus();
    }, "bare.small");
    button.setAttribute("aria-pressed", String(on));
    return button;
  }

  function ask() {
    const input = h("input.field", { type: "text", maxlength: "2000", placeholder: "What was wrong with it?", "aria-label": "What was wrong with it?", dir: "auto" });
    const form = h("form.reason", {}, h("div.choices", {}, ...WHY.map((text) => h("button.button.small", { type: "button", text, on: { click: () => keep(false, text) } }))), input, h("button.button.small.primary", { type: "submit", text: "Keep" }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      keep(false, input.value.trim());
    });
    fill(why, form);
  }

  function draw() {
    fill(box, thumb(true), thumb(false));
    fill(why, now && !now.good && now.reason ? h("p.fine", { text: `Not good: ${now.reason}`, dir: "auto" }) : null);
  }

  draw();
  return { thumbs: box, why };
}
