// A sample agent as a process of its own, through the real SDK: it can be killed like any other.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

import type { Agent } from "./agent.ts";
import { binary, type Server } from "./server.ts";

export interface Worker {
  /** How the process ended: the signal, or its exit code. */
  ended: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Starts `step47 agent NAME`; a test that failed leaves none behind. */
export function startWorker(server: Server, agent: Agent, name: string, args: string[] = []): Worker {
  const child: ChildProcess = spawn(binary(), ["agent", name, "--server", server.url, ...args], {
    env: { ...process.env, STEP47_TOKEN: agent.token },
    stdio: "ignore",
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const ended = once(child, "exit").then(([code, signal]) => String(signal ?? code));
  return { ended, kill: (signal) => void child.kill(signal) };
}
