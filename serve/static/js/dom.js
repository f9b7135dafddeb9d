// Elements without markup: text is always set as text, never parsed.

import { t } from "./i18n.js";

/**
 * Make an element.
 * @param {string} tag name, with classes behind dots: "button.bare.small"
 * @param {object} props attributes; `on` holds listeners, `text` the text, other values are set as attributes
 * @param {...(Node|string|null|false|0)} children nodes or text; what is falsy is left out
 */
export function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (key === "text") {
      element.textContent = value;
    } else if (key === "class") {
      element.classList.add(...value.split(" ").filter(Boolean));
    } else if (key === "value" || key === "checked" || key === "indeterminate") {
      element[key] = value;
    } else {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children.filter(Boolean));
  return element;
}

/** An element of a drawing. */
export function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Put nodes in place of what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter(Boolean));
  return element;
}

/** A button that shows an icon and says what it does. */
export function iconButton(icon, label, onclick, classes = "bare") {
  return h(`button.${classes}`, { type: "button", "aria-label": label, title: label, on: { click: onclick } }, icon);
}

/** Say something to screen readers, once. */
export function announce(text) {
  const live = document.getElementById("live");
  live.append(h("p", { text }));
  while (live.childElementCount > 30) live.firstElementChild.remove();
}

/** Show a message for a while; errors stay until they are closed. */
export function toast(text, { bad = false, action = null } = {}) {
  const box = document.getElementById("toasts");
  const close = h("button.bare.small", { type: "button", "aria-label": t("close"), text: "✕", on: { click: () => note.remove() } });
  const note = h("div.toast", { class: bad ? "bad" : "" }, h("span", { text, dir: "auto" }), action, close);
  action?.addEventListener("click", () => note.remove());
  box.append(note);
  while (box.childElementCount > 3) box.firstElementChild.remove();
  if (!bad) setTimeout(() => note.remove(), 5000);
}

/** Put a text on the clipboard, and say whether that went. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("turn.copied"));
  } catch {
    toast(t("turn.uncopied"), { bad: true });
  }
}

let count = 0;

/** An id that no other element has. */
export function uid(prefix) {
  count += 1;
  return `${prefix}-${count}`;
}
