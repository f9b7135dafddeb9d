// The keyboard: single keys where nothing is being written, and a list that tells them and turns them off.

import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { recall, remember } from "./prefs.js";

const SHOWN = [
  ["/", "write a question"],
  ["n", "new conversation"],
  ["1 … 9", "open that source of the last answer"],
  ["Esc", "close the panel, a dialog or the side"],
  ["Ctrl .", "stop the answer"],
  ["l", "libraries"],
  ["f", "sources"],
  ["s", "settings of a run"],
  ["t", "light or dark"],
  ["?", "this list"],
];

/** Open the list. */
export function openShortcuts() {
  const single = h("input.switch", { type: "checkbox", role: "switch", checked: recall("keys", true), on: { change: (event) => remember("keys", event.target.checked) } });
  openDialog(
    "Keyboard",
    [
      h("dl.keys", {}, ...SHOWN.flatMap(([keys, does]) => [h("dt", {}, ...keys.split(" ").map((k) => (k === "…" ? "–" : h("kbd", { text: k })))), h("dd", { text: does })])),
      h("label.knob.line", {}, single, h("span", { text: "Single keys work where nothing is being written" })),
    ],
    { classes: "small" },
  );
}

/**
 * Listen for keys.
 * @param {Record<string, () => void>} keys what each single key does
 * @param {{stop: () => void, escape: () => boolean, source: (n: number) => void}} doing the rest
 */
export function watchKeys(keys, { stop, escape, source }) {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      if (escape()) event.preventDefault();
      return;
    }
    if (event.key === "." && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      stop();
      return;
    }
    const writing = event.target.closest?.("input, textarea, select, video, audio");
    if (writing || event.ctrlKey || event.metaKey || event.altKey || !recall("keys", true)) return;
    if (/^[1-9]$/.test(event.key)) source(Number(event.key));
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  });
}
