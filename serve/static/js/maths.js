// TeX between its signs, drawn as MathML by the browser itself; Temml is loaded when the first formula is met.

import DOMPurify from "../vendor/purify.js";
import { h } from "./dom.js";
import { script } from "./trusted.js";

/** `$$ … $$` and `\[ … \]` stand alone; `\( … \)` and `$ … $` within a line, where no price is meant: no space inside the signs, no word behind. */
export const TEX = /\$\$([^$]+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|\$(?![\s$])([^$\n]*[^$\s\\])\$(?!\w)/s;
const LONGEST = 2000; // characters of a formula that is drawn

let loading = null;

const temml = () => (loading ||= script("/static/vendor/temml.js").then(() => window.temml));

/** What stands between the signs of a match, and whether it stands alone. */
export const formulaOf = ([, alone, bracket, paren, dollar]) => ({ tex: (alone ?? bracket ?? paren ?? dollar).trim(), alone: (alone ?? bracket) !== undefined });

/** A text as nodes: its formulas are drawn, the rest stays as it is. */
export function withFormulas(text) {
  const parts = [];
  for (let found; (found = TEX.exec(text)); text = text.slice(found.index + found[0].length)) {
    const { tex, alone } = formulaOf(found);
    const code = h("code.tex", { text: tex, class: alone ? "alone" : "" });
    draw(code).catch(() => {});
    parts.push(text.slice(0, found.index), code);
  }
  return [...parts, text];
}

/** Draw the formulas below a node that are written as `code.tex`; one that cannot be drawn stays as it is written. */
export function typeset(root) {
  for (const code of root.querySelectorAll("code.tex")) draw(code).catch(() => {});
  return root;
}

async function draw(code) {
  const tex = code.textContent;
  if (tex.length > LONGEST) return;
  const markup = (await temml()).renderToString(tex, { displayMode: code.classList.contains("alone"), throwOnError: true });
  // The page's policy allows no style within markup, and tells of each that is even read; the browser lays formulas out without.
  code.replaceWith(DOMPurify.sanitize(markup.replace(/ style="[^"]*"/g, ""), { USE_PROFILES: { mathMl: true }, RETURN_DOM_FRAGMENT: true }));
}
