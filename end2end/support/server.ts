// A Step47 server of a test's own: the built binary on an empty store and a free port, ended with the test.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The checkout, with the Leptos.toml that the server reads. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 10_000;

export interface Server {
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** The one-time link that the first start makes for an admin. */
  signInLink: string;
  /** `sqlite:…`, for other commands of the binary on the same store. */
  store: string;
  /** The token of an agent, where the store was made with one. */
  agentToken?: string;
  /** The process that runs now. */
  pid(): number;
  /** The test makes the store fail: what is then answered with 500 fails no test. A panic still does. */
  mayFail(): void;
  /** What no test passes over, whatever became of the answer: panics, and answers of 500 that no damage explains. `test` is kept with
   * each for the end of `cargo xtask test`: a second try that passes hides nothing. */
  found(test: string): string[];
  /** Ends the process and starts another one on the same store and port. */
  restart(whileAway?: () => Promise<void>): Promise<void>;
  /** Ends the process; the store stays. */
  end(): Promise<void>;
  /** Ends the process and removes the store. */
  stop(): Promise<void>;
}

/** The built binary. */
export function binary(): string {
  const path = process.env.STEP47_BIN;
  if (!path) throw new Error("STEP47_BIN must name the built binary: run `cargo xtask test --only e2e`");
  return path;
}

/** A store to begin with, as a server left it, instead of an empty one. */
export interface Beginning {
  file: string;
  /** Not spent yet; its host is the one of the server that made it. */
  signInLink: string;
  agentToken: string;
}

export async function startServer(args: string[] = [], from?: Beginning): Promise<Server> {
  const directory = await mkdtemp(join(tmpdir(), "step47-e2e-"));
  const file = join(directory, "step47.db");
  const store = `sqlite:${file}`;
  if (from) await copyFile(from.file, file);
  let child: ChildProcess | undefined;
  const said: string[] = [];
  let storeMayFail = false;
  const mayFail = () => {
    storeMayFail = true;
  };
  const found = (test: string) => {
    const lines = said.filter((line) => line.includes("panicked at") || (!storeMayFail && line.includes("answered 500")));
    const kept = process.env.STEP47_FOUND;
    if (kept && lines.length > 0) appendFileSync(kept, lines.map((line) => `${test}\t${line}\n`).join(""));
    return lines;
  };
  const start = async (listen: string, first: boolean): Promise<Announced> => {
    child = spawn(binary(), ["serve", "--store", store, "--listen", listen, ...args], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return announced(child, first, said);
  };
  const halt = async () => {
    if (child) await end(child);
  };
  const stop = async () => {
    await halt();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const { url, signInLink: announced } = await start("127.0.0.1:0", !from);
    const signInLink = from ? moved(from.signInLink, url) : announced;
    const restart = async (whileAway: () => Promise<void> = async () => {}) => {
      await halt();
      await whileAway();
      await start(new URL(url).host, false);
    };
    return { url, signInLink, store, agentToken: from?.agentToken, pid: () => child?.pid ?? 0, mayFail, found, restart, end: halt, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The same link to another server. */
function moved(link: string, to: string): string {
  const { pathname, search } = new URL(link);
  return to + pathname + search;
}

interface Announced {
  url: string;
  /** Empty but at the first start. */
  signInLink: string;
}

/** Keeps what the server says in `said`, and waits until it has printed where it listens and, at its first start, which file has the sign-in link. */
function announced(child: ChildProcess, first: boolean, said: string[]): Promise<Announced> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`step47 serve ${why}; it said:\n${said.join("\n")}`));
    const deadline = setTimeout(() => fail("did not start in time"), START_DEADLINE_MS);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => {
      clearTimeout(deadline);
      fail(`ended with ${signal ?? code}`);
    });

    // Both streams are read to their end: a server whose pipe is full would stop.
    createInterface({ input: child.stderr! }).on("line", (line) => said.push(line));
    let url: string | undefined;
    let signInLink: string | undefined;
    createInterface({ input: child.stdout! }).on("line", (line) => {
      said.push(line);
      // It is shown on terminals only; elsewhere a file has it.
      const file = /^sign-in link in (.+)$/.exec(line)?.[1];
      if (file) signInLink = readFileSync(file, "utf8").trim();
      url ??= /listening on (http:\/\/\S+)/.exec(line)?.[1];
      if (url && (signInLink || !first)) {
        clearTimeout(deadline);
        resolve({ url, signInLink: signInLink ?? "" });
      }
    });
  });
}

/** Asks the process to end, and kills it if it does not. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  // Not its exit alone: what it said last may still be under way.
  const exited = once(child, "close");
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
  await exited;
  clearTimeout(deadline);
}
