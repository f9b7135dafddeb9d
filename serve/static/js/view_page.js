// A page of a PDF, drawn by the server, with the cited box over it.

import { fetchFile } from "./api.js";
import { fill, h, iconButton } from "./dom.js";
import { icon } from "./icons.js";
import { quoted } from "./panel.js";

/** Lay a box over a picture, a little wider than what it holds: left, top, width and height as shares of the picture. */
export function lay(box, [left, top, width, height]) {
  const at = (share) => `calc(${share * 100}% - 5px)`;
  const long = (share) => `calc(${share * 100}% + 10px)`;
  Object.assign(box.style, { left: at(left), top: at(top), width: long(width), height: long(height) });
  box.hidden = false;
}

/** Show the cited page; the reader can leaf through the others. */
export async function pageView(citation, body) {
  const { media, page: cited, bbox } = citation.open;
  const stop = new AbortController();
  let address = "";
  let at = cited || 1;
  let count = at;

  const picture = h("img", { alt: "" });
  const box = h("span.box", { hidden: true });
  const sheet = h("div.sheet", {}, picture, box);
  const where = h("span.number", { "aria-live": "polite" });
  const back = iconButton(icon("left"), "Page before", () => turn(at - 1));
  const on = iconButton(icon("right"), "Next page", () => turn(at + 1));
  const home = h("button.button.small", { type: "button", text: "Back to the cited page", on: { click: () => turn(cited) } });
  const large = h("button.button.small", { type: "button", text: "Larger", "aria-pressed": "false", on: { click: zoom } });
  const frame = h("div.sheet-frame", { tabindex: "0", role: "region", "aria-label": "Page" }, sheet);

  async function turn(n) {
    const asked = new URLSearchParams({ width: "1400" });
    if (n === cited && bbox) asked.set("box", bbox.join(","));
    const response = await fetchFile(`${media}/page/${n}?${asked}`, { signal: stop.signal });
    const blob = await response.blob();
    URL.revokeObjectURL(address);
    address = URL.createObjectURL(blob);
    picture.src = address;
    picture.alt = `Page ${n} of ${citation.title}`;
    await picture.decode().catch(() => {});
    at = n;
    count = Number(response.headers.get("X-Page-Count")) || n;
    where.textContent = `Page ${at} of ${count}`;
    back.disabled = at <= 1;
    on.disabled = at >= count;
    home.hidden = at === cited;
    const found = (response.headers.get("X-Page-Box") || "").split(",").map(Number);
    box.hidden = found.length !== 4;
    if (found.length === 4) {
      lay(box, found);
      box.scrollIntoView({ block: "center", inline: "nearest" });
    }
  }

  function zoom() {
    const is = sheet.classList.toggle("large");
    large.setAttribute("aria-pressed", String(is));
    large.textContent = is ? "Fit" : "Larger";
    if (!box.hidden) box.scrollIntoView({ block: "center", inline: "center" });
  }

  const leave = () => {
    stop.abort();
    URL.revokeObjectURL(address);
  };
  const tools = h("div.view-tools", {}, back, where, on, h("span.grow"), home, large);
  fill(body, tools, frame, quoted(citation));
  try {
    await turn(at);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
  return { leave };
}
