// The stores that tests begin with: migrated, with the first admin's link and an agent's token, and empty or with a working day
// in it. Made once by a real server, then copied for each test: a copy takes a millisecond, a first start and a token most of a
// second, a working day some seconds.
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Agent, newToken } from "./agent.ts";
import { type Beginning, startServer } from "./server.ts";

export interface Made extends Beginning {
  remove(): Promise<void>;
}

export async function makeBeginning(fill: (agent: Agent) => Promise<unknown> = async () => {}): Promise<Made> {
  const directory = await mkdtemp(join(tmpdir(), "step47-e2e-begin-"));
  const file = join(directory, "step47.db");
  const server = await startServer();
  try {
    const agentToken = await newToken(server.store);
    await fill(await Agent.with({ ...server, agentToken }));
    await server.end();
    const found = server.found("the store that tests begin with");
    if (found.length > 0) throw new Error(`the server panicked or answered 500:\n${found.join("\n")}`);
    const made = server.store.replace(/^sqlite:/, "");
    const log = await stat(`${made}-wal`).catch(() => undefined);
    if (log && log.size > 0) throw new Error("the server left a log behind: a copy of its store would lack what is in it");
    await copyFile(made, file);
    const remove = () => rm(directory, { recursive: true, force: true });
    return { file, signInLink: server.signInLink, agentToken, remove };
  } finally {
    await server.stop();
  }
}
