// A proof to send: an answer or a conversation as one file, made by the server.

import { fetchFile } from "./api.js";
import { h, toast } from "./dom.js";

/** Save an answer, or a whole conversation where no turn is named. */
export const saveProof = ({ thread, turn = null }, title) => saveFile(`/api/threads/${encodeURIComponent(thread)}/proof${turn ? `?turn=${turn}` : ""}`, title);

/** Save the page of HTML at an address under a title. */
export async function saveFile(path, title) {
  try {
    const response = await fetchFile(path);
    const address = URL.createObjectURL(await response.blob());
    const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "answer";
    h("a", { href: address, download: `${name}.html` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    toast(error.sentence || String(error.message), { bad: true });
  }
}
