// The MCP SDK in TypeScript, over HTTP.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${process.argv[2]}/mcp`)));
const { tools } = await client.listTools();
const question = "When was the lamp of the lighthouse first lit?";
const answer = await client.callTool({ name: "ask", arguments: { question } });
const file = { name: "kiln.md", text: "# The kiln\n\nThe kiln of Rook was fired in 1911 by Rosa.\n" };
const withFile = await client.callTool({ name: "ask", arguments: { question: "Who fired the kiln of Rook?", files: [file] } });
console.log(JSON.stringify({
  chat: answer.content.map((part) => part.text).join("\n"),
  citations: JSON.stringify(answer.structuredContent),
  file: withFile.structuredContent.text,
  tools: tools.map((tool) => tool.name).join(" "),
}));
await client.close();
