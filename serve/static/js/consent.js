// The question for consent before anything is sent to a web search. Escape decides nothing: the turn keeps asking.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { providerName } from "./words.js";

let dialog = null;

/** Ask; `answered` hears true or false, and nothing where the reader puts it off. */
export function askConsent({ query, provider }, answered) {
  closeConsent();
  const choose = (agreed) => () => {
    closeConsent();
    answered(agreed);
  };
  dialog = h(
    "dialog.dialog.consent",
    { "aria-labelledby": "consent-title", "aria-describedby": "consent-text" },
    h("div.dialog-head", {}, h("span.badge", {}, icon("globe")), h("h2", { id: "consent-title", text: "Search the web?" })),
    h("div", { id: "consent-text" },
      h("p", { text: "Your library does not answer this well enough. A search made from this question would be sent out:" }),
      h("blockquote.sent", { text: query, dir: "auto" }),
      h("p.fine", { text: `It goes to ${providerName(provider)}, and the pages that it finds are read. Your files are not sent. You are asked once per question.` })),
    h("div.choices", {}, h("button.button", { type: "button", autofocus: true, text: "Stay offline", on: { click: choose(false) } }), h("button.button.primary", { type: "button", text: "Search the web", on: { click: choose(true) } })),
  );
  document.body.append(dialog);
  dialog.addEventListener("close", closeConsent);
  dialog.showModal();
}

/** Take the question away. */
export function closeConsent() {
  const open = dialog;
  dialog = null;
  open?.close();
  open?.remove();
}
