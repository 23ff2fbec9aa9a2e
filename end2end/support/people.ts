// People beside the first admin, each in a browser context of their own.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { type Browser, expect, type Page } from "@playwright/test";

import { binary, ROOT, type Server } from "./server.ts";

/** A page of a new person, signed in by the form's own request. */
export async function person(browser: Browser, server: Server, name: string, role = "operator"): Promise<Page> {
  const args = ["user", "add", name, "--role", role, "--store", server.store, "--public-url", server.url];
  const { stdout } = await promisify(execFile)(binary(), args, { cwd: ROOT });
  const link = /https?:\/\/\S+/.exec(stdout)?.[0];
  if (!link) throw new Error(`step47 user add printed no link: ${stdout}`);
  const page = await (await browser.newContext()).newPage();
  await spend(page, server, link);
  return page;
}

/** Spends a one-time link without the page that has its button. */
export async function spend(page: Page, server: Server, link: string): Promise<void> {
  const token = new URL(link).searchParams.get("token") ?? "";
  const form = { form: { token }, headers: { origin: server.url }, maxRedirects: 0 };
  const answer = await page.request.post(`${server.url}/signin`, form);
  expect(answer.headers().location, "where signing in leads to").toBe("/");
}
