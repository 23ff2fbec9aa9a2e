// A Step47 server of a test's own: the built binary on an empty store and a free port, ended with the test.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The checkout, with the Leptos.toml that the server reads. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 10_000;

export interface Server {
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** The one-time link that the first start prints for an admin. */
  signInLink: string;
  /** `sqlite:…`, for other commands of the binary on the same store. */
  store: string;
  /** Ends the process and removes the store. */
  stop(): Promise<void>;
}

/** The built binary. */
export function binary(): string {
  const path = process.env.STEP47_BIN;
  if (!path) throw new Error("STEP47_BIN must name the built binary: run `cargo xtask test --only e2e`");
  return path;
}

export async function startServer(args: string[] = []): Promise<Server> {
  const directory = await mkdtemp(join(tmpdir(), "step47-e2e-"));
  const store = `sqlite:${join(directory, "step47.db")}`;
  const child = spawn(binary(), ["serve", "--store", store, "--listen", "127.0.0.1:0", ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = async () => {
    await end(child);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    return { ...(await announced(child)), store, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits until the server has printed where it listens and how to sign in. */
function announced(child: ChildProcess): Promise<{ url: string; signInLink: string }> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
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
      url ??= /listening on (http:\/\/\S+)/.exec(line)?.[1];
      signInLink ??= /sign in: (http:\/\/\S+)/.exec(line)?.[1];
      if (url && signInLink) {
        clearTimeout(deadline);
        resolve({ url, signInLink });
      }
    });
  });
}

/** Asks the process to end, and kills it if it does not. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
  await exited;
  clearTimeout(deadline);
}
