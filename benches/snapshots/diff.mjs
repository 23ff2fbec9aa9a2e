// npm's jsondiffpatch on the two states that the benchmark wrote down, with changes inside texts as ours has them: told which key
// tells one item from another, and not told. Medians of diffs of parsed values, in milliseconds.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, before, after] = process.argv.slice(2);
const found = createRequire(pathToFileURL(`${modules}/`)).resolve("jsondiffpatch/with-text-diffs");
const { create } = await import(pathToFileURL(found));
const read = (file) => JSON.parse(readFileSync(file, "utf8"));

function median(differ) {
  const times = [];
  let spent = 0;
  while (times.length < 9 && (times.length < 3 || spent < 10_000)) {
    const [a, b] = [read(before), read(after)];
    const began = performance.now();
    differ.diff(a, b);
    times.push(performance.now() - began);
    spent += times.at(-1);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}

const told = median(create({ objectHash: (item) => item.id }));
console.log(JSON.stringify({ told, untold: median(create({})) }));
