// npm's jsondiffpatch on the two states that the benchmark wrote down: median of 9 diffs of parsed values.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, before, after] = process.argv.slice(2);
const found = createRequire(pathToFileURL(`${modules}/`)).resolve("jsondiffpatch");
const { create } = await import(pathToFileURL(found));
const differ = create({ objectHash: (item) => item.id, textDiff: { minLength: 60 } });
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const times = [];
for (let i = 0; i < 9; i++) {
  const [a, b] = [read(before), read(after)];
  const began = performance.now();
  differ.diff(a, b);
  times.push(performance.now() - began);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ ms: times[4] }));
