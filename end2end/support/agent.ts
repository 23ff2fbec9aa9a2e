// An agent as any other program would be one: a token and plain calls to /v1.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { expect } from "@playwright/test";

import { binary, ROOT, type Server } from "./server.ts";

type Json = Record<string, unknown>;

/** A run that this agent holds the lease of. */
export interface Held {
  id: string;
  epoch: number;
}

/** An attempt that has begun. */
export interface Begun {
  seq: number;
  attempt: number;
}

/** A new token for an agent, made by the binary on the store itself. */
export async function newToken(store: string): Promise<string> {
  const args = ["token", "create", "--role", "agent", "--name", "e2e", "--store", store];
  const { stdout } = await promisify(execFile)(binary(), args, { cwd: ROOT });
  return stdout.trim();
}

export class Agent {
  readonly #url: string;
  readonly #token: string;

  private constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  get token(): string {
    return this.#token;
  }

  /** An agent with the token that the store was made with, or a new one. */
  static async with(server: Server): Promise<Agent> {
    return new Agent(server.url, server.agentToken ?? (await newToken(server.store)));
  }

  async post<T = Json>(path: string, body: Json): Promise<T> {
    const response = await fetch(`${this.#url}/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : {}) as T;
  }

  async get<T = Json>(path: string): Promise<T> {
    const response = await fetch(`${this.#url}/v1${path}`, { headers: { authorization: `Bearer ${this.#token}`, accept: "application/json" } });
    const text = await response.text();
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Creates a run; `agent` and `title` matter most on a screen. */
  async create(run: Json): Promise<string> {
    const answer = await this.post<{ run: { id: string } }>("/runs", run);
    return answer.run.id;
  }

  async lease(id: string, ttl_ms = 60_000, worker = "w-7f3a"): Promise<Held> {
    const answer = await this.post<{ epoch: number }>(`/runs/${id}/lease`, { worker, ttl_ms });
    return { id, epoch: answer.epoch };
  }

  async begin(run: Held, step: Json): Promise<Begun> {
    const key = step.key ?? step.name;
    return this.post(`/runs/${run.id}/steps`, { epoch: run.epoch, key, ...step });
  }

  /** Commits; answers the step that `next` in the body began. */
  async commit(run: Held, begun: Begun, body: Json = {}): Promise<Begun | undefined> {
    const path = `/runs/${run.id}/steps/${begun.seq}/commit`;
    const answer = await this.post<{ next?: Begun }>(path, { epoch: run.epoch, attempt: begun.attempt, ...body });
    return answer.next;
  }

  /** Begins and commits. */
  async step(run: Held, step: Json, body: Json = {}): Promise<void> {
    await this.commit(run, await this.begin(run, step), body);
  }

  async finish(run: Held, outcome: "done" | "failed" = "done", rest: Json = {}): Promise<void> {
    await this.post(`/runs/${run.id}/finish`, { epoch: run.epoch, outcome, ...rest });
  }

  /** Lets go of the run at once: what was in flight has crashed. A dead process lets its lease run out instead: see `lose`. */
  async die(run: Held): Promise<void> {
    await this.post(`/runs/${run.id}/release`, { epoch: run.epoch });
  }

  /** Waits until the store has ended a lease that nobody keeps alive; it should be a short one. */
  async lose(run: Held): Promise<void> {
    const lease = async () => (await this.get<{ run: { lease?: unknown } }>(`/runs/${run.id}`)).run.lease;
    await expect.poll(lease, { timeout: 30_000 }).toBeUndefined();
  }
}
