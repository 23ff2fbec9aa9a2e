// How `cargo xtask bench ui` runs: one long measurement, never tried again, with the same browser as the tests.
import { defineConfig } from "@playwright/test";

import tests from "../playwright.config.ts";

export default defineConfig({
  ...tests,
  testDir: ".",
  testMatch: "ui.ts",
  outputDir: "../test-results/bench",
  retries: 0,
  workers: 1,
  timeout: 1_500_000,
  reporter: [["line"]],
  use: { ...tests.use, trace: "off", screenshot: "off" },
});
