// A passage in its document, with the words marked; and a web page as an address that only the reader opens.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { itemAddress, quoted } from "./panel.js";
import { day, host } from "./words.js";

/** Show the passage with what stands around it. */
export async function textView(citation, body) {
  const { around } = await call("GET", `${itemAddress(citation)}/around`);
  const here = around.find((row) => row.here);
  const found = range(here.text, citation);
  const heading = citation.locator.heading?.length ? citation.locator.heading : here.heading;
  let at = "";
  const parts = around.map((row) => {
    const path = row.heading.join(" › ");
    const title = path !== at && row.heading.length ? h("h3", { text: row.heading.at(-1), dir: "auto" }) : null;
    at = path;
    return h("section", { class: row.here ? "here" : "beside" }, title, row.here ? marked(row.text, found) : prose(row.text));
  });
  const crumbs = heading.length ? h("ol.crumbs", { "aria-label": "Heading" }, ...heading.map((text) => h("li", { text, dir: "auto" }))) : null;
  fill(body, crumbs, h("div.passage", { tabindex: "0", role: "region", "aria-label": "Text of the source" }, ...parts));
  (body.querySelector("mark") || body.querySelector(".here"))?.scrollIntoView({ block: "center" });
}

/** The characters to mark: those that the citation names, else where its quote stands. */
function range(text, { open, quote }) {
  if (open.chars && open.chars[0] < open.chars[1] && open.chars[1] <= [...text].length) return points(text, open.chars);
  const start = quote ? text.indexOf(quote) : -1;
  return start < 0 ? null : [start, start + quote.length];
}

/** The server counts characters, a script counts units of UTF-16. */
function points(text, [start, end]) {
  const characters = [...text];
  const before = characters.slice(0, start).join("").length;
  return [before, before + characters.slice(start, end).join("").length];
}

const prose = (text) => h("p.text", { text, dir: "auto" });

function marked(text, found) {
  if (!found) return prose(text);
  const [start, end] = found;
  return h("p.text", { dir: "auto" }, text.slice(0, start), h("mark", { text: text.slice(start, end) }), text.slice(end));
}

/** Show a web page as what it is: an address somewhere else. */
export async function webView(citation, body) {
  const { url, fetched } = citation.locator;
  fill(
    body,
    h("div.web", {},
      h("p.host", {}, icon("globe"), h("strong", { text: host(url) })),
      h("p.address", {}, h("code", { text: url })),
      fetched && h("p.fine", { text: `Read on ${day(fetched)} at ${new Date(fetched).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}. The page may have changed since.` }),
      h("a.button", { href: url, target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer" }, icon("out"), "Open this address in a new tab"),
      h("p.fine", { text: "This leaves Ragweave. The text below is what was read." })),
    quoted(citation),
  );
}
