// Prints the labels and edges that Mermaid itself reads from a flowchart: `node mermaid_labels.mjs BUNDLE < TEXT`.
import { readFileSync } from "node:fs";
import vm from "node:vm";

// Parsing needs no page; what asks for one gets an object that takes everything. Labels are not sanitized, only read.
const anything = () =>
  new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => "" : key === "length" ? 0 : anything()),
    apply: () => anything(),
    construct: () => anything(),
    set: () => true,
  });
globalThis.window = globalThis;
globalThis.document = anything();
globalThis.addEventListener = () => {};
Function.prototype.addHook = () => {};
Function.prototype.sanitize = (text) => text;
vm.runInThisContext(readFileSync(process.argv[2], "utf8"));

const text = readFileSync(0, "utf8");
await globalThis.mermaid.parse(text); // registers the kinds of diagrams
const { db } = await globalThis.mermaid.mermaidAPI.getDiagramFromText(text);
const decoded = (text) => text.replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(code));
console.log(
  JSON.stringify({
    vertices: [...db.getVertices().values()].map((each) => [each.id, decoded(each.text)]),
    edges: db.getEdges().map((each) => [each.start, each.text, each.end]),
  }),
);
