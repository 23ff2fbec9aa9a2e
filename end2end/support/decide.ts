// Decisions by the console's own call, where a test is about what comes after them.
import { expect, type Page } from "@playwright/test";

import type { Agent } from "./agent.ts";
import type { Server } from "./server.ts";

type Json = Record<string, unknown>;

/** Decides as the person whose page it is, on the run as it is now. */
export async function decide(page: Page, server: Server, agent: Agent, id: string, body: Json): Promise<void> {
  const { run } = await agent.get<{ run: { version: number } }>(`/runs/${id}`);
  const order = { run: id, body: { if_version: run.version, reason: "by test", ...body } };
  const answer = await page.request.post(`${server.url}/api/decisions/decide`, { data: order, headers: { origin: server.url } });
  expect(answer.status(), await answer.text()).toBe(200);
}
