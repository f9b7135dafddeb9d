// What stands on an empty conversation: what can be asked, or where files go.

import { fill, h } from "./dom.js";
import { icon, iconOf } from "./icons.js";
import { held, on, state } from "./state.js";
import { pickFiles } from "./upload.js";
import { counted } from "./words.js";

let box = null;

/** The greeting, which follows the library that is chosen. */
export function welcome() {
  box = h("div.column.welcome");
  draw();
  return box;
}

function draw() {
  if (!box || !state.library) return;
  if (!held(state.library)) {
    fill(
      box,
      h("h1", { text: "Ask your own files" }),
      h("p.lead", { text: "Put in documents, pictures and recordings. Every sentence of an answer is checked against them, and opens the page, the picture or the second it came from." }),
      h("div.dropzone", {}, icon("upload"), h("p", { text: `Drop files or folders here to index them into “${state.library.name}”.` }), h("button.button.primary", { type: "button", text: "Choose files", on: { click: pickFiles } }), h("p.fine", { text: "They stay on this machine." })),
    );
    return;
  }
  const tags = Object.entries(state.library.items).map(([corpus, n]) => h("li.tag", {}, icon(iconOf(corpus)), counted(corpus, n)));
  fill(
    box,
    h("h1", { text: state.library.name === "default" ? "What do you want to know?" : `What do you want to know from “${state.library.name}”?`, dir: "auto" }),
    h("p.lead", { text: "Each sentence appears once it has been checked against your files. Its number opens the place it came from." }),
    h("ul.held", { "aria-label": "This library holds" }, ...tags),
  );
}

on("libraries library", () => box?.isConnected && draw());
