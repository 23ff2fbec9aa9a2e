// The demo as anyone would start it, on a free port and a store that goes with it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { binary } from "../support/server.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STORY_DEADLINE_MS = 240_000;
const STOP_DEADLINE_MS = 20_000;

export interface Demo {
  /** Opens once. The demo prints it when its story is complete: the crash, the gate, the failures, the long run. */
  signInLink: string;
  stop(): Promise<void>;
}

export async function startDemo(): Promise<Demo> {
  const child = spawn(binary(), ["demo", "--listen", "127.0.0.1:0", "--history", "3000"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    const signInLink = await told(child);
    return { signInLink, stop: () => end(child) };
  } catch (error) {
    await end(child);
    throw error;
  }
}

function told(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const fail = (why: string) => reject(new Error(`step47 demo ${why}; it said:\n${said.join("\n")}`));
    const deadline = setTimeout(() => fail("did not get to its end in time"), STORY_DEADLINE_MS);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => {
      clearTimeout(deadline);
      fail(`ended with ${signal ?? code}`);
    });
    createInterface({ input: child.stderr! }).on("line", (line) => said.push(line));
    createInterface({ input: child.stdout! }).on("line", (line) => {
      said.push(line);
      const link = /sign in: (http:\/\/\S+)/.exec(line)?.[1];
      if (link) {
        clearTimeout(deadline);
        resolve(link);
      }
    });
  });
}

/** Asks the demo to stop all that it started, and kills it if it does not. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
  await exited;
  clearTimeout(deadline);
}
