// What stands on an empty conversation: what can be asked, or where files go.

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { holds, on, state } from "./state.js";
import { pickFiles } from "./upload.js";

let box = null;

/** The greeting, which follows the library that is chosen. */
export function welcome() {
  box = h("div.column.welcome");
  draw();
  return box;
}

function draw() {
  if (!box || !state.library) return;
  const held = holds(state.library);
  if (!held.length) {
    fill(
      box,
      h("h2.hello", { text: "Ask your own files" }),
      h("p.lead", { text: "Put in documents, pictures and recordings. Every sentence of an answer is checked against them, and opens the page, the picture or the second it came from." }),
      h("div.dropzone", {}, icon("upload"), h("p", { text: `Drop files or folders here to index them into “${state.library.name}”.` }), h("button.button.primary", { type: "button", text: "Choose files", on: { click: pickFiles } }), h("p.fine", { text: whither() })),
    );
    return;
  }
  const tags = held.map((text) => h("li.tag", { text }));
  fill(
    box,
    h("h2.hello", { text: state.library.name === "default" ? "What do you want to know?" : `What do you want to know from “${state.library.name}”?`, dir: "auto" }),
    h("p.lead", { text: "Each sentence appears once it has been checked against your files. Its number opens the place it came from." }),
    h("ul.held", { "aria-label": "This library holds" }, ...tags),
  );
}

/** Say where files go: that is never a matter of course. */
function whither() {
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(window.location.hostname);
  const kept = local ? "They stay on this machine." : `They are kept by the server at ${window.location.host}.`;
  return state.me?.chat ? `${kept} Passages that bear on a question go to the language model that is set up: ${state.me.chat}.` : kept;
}

on("libraries library", () => box?.isConnected && draw());
