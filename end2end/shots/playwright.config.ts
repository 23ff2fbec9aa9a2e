// How `cargo xtask shots` takes its pictures: the browser of the tests, one picture after the other.
import { defineConfig } from "@playwright/test";

import tests from "../playwright.config.ts";

export default defineConfig({
  ...tests,
  testDir: ".",
  testMatch: "shots.ts",
  outputDir: "../test-results/shots",
  fullyParallel: false,
  workers: 1,
  retries: 0,
  timeout: 300_000,
  use: { ...tests.use, screenshot: "off", trace: "off" },
});
