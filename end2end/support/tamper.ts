// Bits that flip on disk, while no server runs.
import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";

import type { Page } from "@playwright/test";

import type { Server } from "./server.ts";

/** A word that is in the store nowhere else, short enough to be kept there as it is. */
export function marker(): string {
  return `mark${randomBytes(6).toString("hex")}`;
}

/**
 * Ends the server, flips a bit of each word wherever the store keeps it, and starts the server again. The page leaves
 * first: one that loses its server says so in the console.
 */
export async function damage(page: Page, server: Server, words: string[]): Promise<void> {
  server.mayFail();
  await page.goto("about:blank");
  const file = server.store.replace(/^sqlite:/, "");
  await server.restart(async () => {
    const log = await stat(`${file}-wal`).catch(() => undefined);
    if (log && log.size > 0) throw new Error("the server left a log behind: what is in it is not damaged");
    const bytes = await readFile(file);
    for (const word of words) {
      let places = 0;
      for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) {
        bytes[at]! ^= 1;
        places++;
      }
      if (places === 0) throw new Error(`${word} is not in the store as it was sent`);
    }
    await writeFile(file, bytes);
  });
}
