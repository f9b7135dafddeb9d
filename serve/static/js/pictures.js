// Pictures that go with a question: pasted or chosen, shrunk here, and shown beside it.

import { fetchFile } from "./api.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";

const MOST = 4;
const LONGEST = 2000; // pixels; more shows no more words
const SIGNS = 0.9; // quality at which small letters stay legible

/** The pictures of the question being written. */
export class PictureTray {
  constructor(changed) {
    this.urls = [];
    this.changed = changed;
    this.picker = h("input", { type: "file", accept: "image/*", multiple: true, hidden: true, "aria-label": t("picture.choose") });
    this.picker.id = "pictures";
    this.picker.addEventListener("change", () => this.add([...this.picker.files]));
    this.element = h("div.thumbs", { hidden: true, role: "group", "aria-label": t("picture.tray") });
  }

  pick() {
    this.picker.value = "";
    this.picker.click();
  }

  async add(files) {
    for (const file of files) {
      if (this.urls.length >= MOST) {
        toast(t("picture.most", { n: MOST }), { bad: true });
        break;
      }
      try {
        this.urls.push(await shrunk(file));
      } catch {
        toast(t("picture.bad", { name: file.name }), { bad: true });
      }
    }
    this.set(this.urls);
  }

  set(urls) {
    this.urls = [...urls];
    this.element.hidden = !urls.length;
    const remove = (n) => () => this.set(this.urls.filter((_, at) => at !== n));
    fill(
      this.element,
      ...this.urls.map((url, n) => h("span.thumb", {}, h("img", { src: url, alt: t("picture.n", { n: n + 1 }) }), iconButton(icon("close"), t("picture.remove", { n: n + 1 }), remove(n), "bare.small"))),
    );
    this.changed();
  }
}

/** The pictures of a question that was asked; nothing where it has none. */
export function thumbs(urls) {
  if (!urls.length) return null;
  return h("div.thumbs", {}, ...urls.map((url, n) => h("img", { src: url, alt: t("picture.asked", { n: n + 1 }), loading: "lazy" })));
}

/** A picture as a data URL, fetched where it is an address of this server. */
export async function asData(url) {
  if (url.startsWith("data:")) return url;
  return read(await (await fetchFile(url)).blob());
}

async function shrunk(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
  const canvas = h("canvas", { width: Math.max(1, Math.round(bitmap.width * scale)), height: Math.max(1, Math.round(bitmap.height * scale)) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "white"; // what is transparent would turn black
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.toDataURL("image/jpeg", SIGNS);
}

function read(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
