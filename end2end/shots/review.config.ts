// How `cargo xtask shots --all` takes its pictures: as those of the README, of every page and state.
import { defineConfig } from "@playwright/test";

import readme from "./playwright.config.ts";

export default defineConfig({ ...readme, testMatch: "review.ts" });
