// The keyboard: single keys where nothing is being written, and a list that tells them and turns them off.

import { openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";
import { recall, remember } from "./prefs.js";

const SHOWN = [
  ["/", t("keys.write")],
  ["n", t("keys.new")],
  ["1 … 9", t("keys.source")],
  ["Esc", t("keys.close")],
  ["Ctrl .", t("keys.stop")],
  ["l", t("keys.libraries")],
  ["f", t("keys.sources")],
  ["s", t("keys.settings")],
  ["t", t("keys.theme")],
  ["?", t("keys.list")],
];

/** Open the list. */
export function openShortcuts() {
  const single = h("input.switch", { type: "checkbox", role: "switch", checked: recall("keys", true), on: { change: (event) => remember("keys", event.target.checked) } });
  openDialog(
    t("keys"),
    [
      h("dl.keys", {}, ...SHOWN.flatMap(([keys, does]) => [h("dt", {}, ...keys.split(" ").map((k) => (k === "…" ? "–" : h("kbd", { text: k })))), h("dd", { text: does })])),
      h("label.knob.line", {}, single, h("span", { text: t("keys.single") })),
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
