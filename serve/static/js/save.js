// Files that the server makes and the browser saves.

import { fetchFile } from "./api.js";
import { h, toast } from "./dom.js";

/** Fetch a file from an address and save it under a title; a problem is shown. */
export async function save(path, title, ending, options = {}) {
  try {
    const response = await fetchFile(path, options);
    const address = URL.createObjectURL(await response.blob());
    const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "answer";
    h("a", { href: address, download: `${name}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    toast(error.sentence || String(error.message), { bad: true });
  }
}
