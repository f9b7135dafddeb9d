// Markdown of an answer: read by marked, cleaned by DOMPurify, and inert. Nothing in it loads and nothing in it links.

import DOMPurify from "../vendor/purify.js";
import { Marked } from "../vendor/marked.js";
import { t } from "./i18n.js";
import { formulaOf, TEX, typeset } from "./maths.js";

const escaped = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.codePointAt(0)};`);

const reader = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    // Tags that somebody wrote are shown as written.
    html: ({ text }) => escaped(text),
    image: ({ text, href }) => `<span class="inert">${escaped(text || t("picture.inert"))} <code>${escaped(href)}</code></span>`,
    link({ tokens, href, text }) {
      const shown = this.parser.parseInline(tokens);
      return text === href ? `<code>${escaped(href)}</code>` : `${shown} <code class="inert">${escaped(href)}</code>`;
    },
  },
});

const BEGIN = new RegExp(`^(?:${TEX.source})`, TEX.flags);

reader.use({
  extensions: [{
    name: "tex",
    level: "inline",
    start: (source) => source.search(TEX),
    tokenizer(source) {
      const found = BEGIN.exec(source);
      return found ? { type: "tex", raw: found[0], ...formulaOf(found) } : undefined;
    },
    renderer: ({ tex, alone }) => `<code class="tex${alone ? " alone" : ""}">${escaped(tex)}</code>`,
  }],
});

const ALLOWED = {
  ALLOWED_TAGS: ["p", "br", "strong", "em", "del", "code", "pre", "ul", "ol", "li", "blockquote", "sub", "sup", "span", "table", "thead", "tbody", "tr", "th", "td"],
  ALLOWED_ATTR: ["class", "align", "start"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/** Render one sentence. */
export function inline(text) {
  return typeset(DOMPurify.sanitize(reader.parseInline(text), ALLOWED));
}
