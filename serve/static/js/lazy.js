// Long lists: rows are made when they come near, and go when they are far, so that thousands scroll like ten.

import { fill, h } from "./dom.js";
import { t } from "./i18n.js";

const BLOCK = 50; // rows that come and go together
const ROW = 49; // pixels of a row that was never shown

/**
 * The lists of a group; a short group is one list, whole.
 * @param {object[]} rows what the rows are made of
 * @param {(row: object) => Node} make makes one
 * @param {Element} box what scrolls
 * @param {string} name of the group, for screen readers
 */
export function lists(rows, make, box, name) {
  if (rows.length <= BLOCK * 2) return [h("ul", { role: "list", "aria-label": name }, ...rows.map(make))];
  const parts = new Map();
  const watch = new IntersectionObserver((seen) => seen.forEach(show), { root: box, rootMargin: "800px 0px" });
  for (let at = 0; at < rows.length; at += BLOCK) {
    const part = rows.slice(at, at + BLOCK);
    const list = h("ul", { role: "list", "aria-label": t("lists.part", { name, from: at + 1, to: at + part.length, n: rows.length }) });
    list.style.height = `${part.length * ROW}px`;
    parts.set(list, part);
    watch.observe(list);
  }
  function show({ target, isIntersecting, boundingClientRect }) {
    if (!target.isConnected) watch.unobserve(target);
    else if (isIntersecting && !target.childElementCount) {
      fill(target, ...parts.get(target).map(make));
      target.style.height = "";
    } else if (!isIntersecting && target.childElementCount && boundingClientRect.height && !target.contains(document.activeElement)) {
      target.style.height = `${boundingClientRect.height}px`;
      fill(target);
    }
  }
  return [...parts.keys()];
}
