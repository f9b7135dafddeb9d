// AI SDK: openai() speaks /v1/responses and names earlier answers by id; the compatible provider speaks chat completions.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText, tool } from "ai";
import { z } from "zod";

const [, , base, picture] = process.argv;
const LIT = "When was the lamp of the lighthouse first lit?";
const SAILS = "How often does the ferry sail?";
const WHO = "Who fired the kiln of Rook?";
const KILN = Buffer.from("# The kiln\n\nThe kiln of Rook was fired in 1911 by Rosa.\n");
const newer = createOpenAI({ baseURL: `${base}/v1`, apiKey: "none" })("agent");
const plain = createOpenAICompatible({ name: "ragweave", baseURL: `${base}/v1`, apiKey: "none" })("agent");
const how = { maxRetries: 0 };
const first = await generateText({ model: newer, prompt: LIT, ...how });
const before = [{ role: "user", content: LIT }, ...first.response.messages];
const second = await generateText({ model: newer, messages: [...before, { role: "user", content: SAILS }], ...how });
const streamed = await streamText({ model: plain, prompt: LIT, ...how }).text;
const file = { type: "file", data: KILN, mediaType: "application/pdf", filename: "kiln.md" };
const image = { type: "image", image: picture };
const ask = async (model, text, ...parts) =>
  (await generateText({ model, messages: [{ role: "user", content: [{ type: "text", text }, ...parts] }], ...how })).text;
const tide = tool({ description: "Tell the tide.", inputSchema: z.object({}), execute: async () => "high" });
console.log(JSON.stringify({
  chat: first.text,
  stream: streamed,
  citations: first.sources.map((source) => source.url).join(" "),
  "follow-up": second.text,
  file: await ask(newer, WHO, file),
  picture: await ask(newer, LIT, image),
  tools: (await generateText({ model: newer, prompt: LIT, tools: { tide }, ...how })).text,
  "compatible, file": await ask(plain, WHO, file),
  "compatible, picture": await ask(plain, LIT, image),
}));
