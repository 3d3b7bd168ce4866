// Looks at five pages of the built site as look.mjs says, and searches.
// usage: node check.mjs NODE_MODULES SITE SCREENSHOTS CHROMIUM
import { join } from "node:path";
import { checked, open } from "./look.mjs";

const [modules, folder, screenshots, chromium] = process.argv.slice(2);
const pages = [
    "index.html",
    "tutorials/first-hour.html",
    "how-to/ledger-on-postgresql.html",
    "concepts/entities.html",
    "reference/ledger.html",
];

async function search(check) {
    const { page } = await open(check, pages[0], 1400);
    await page.waitForNetworkIdle();
    await page.keyboard.press("/");
    await page.keyboard.type("late data", { delay: 20 });
    await page.waitForSelector(">>> a[href*='late-data.html?h=']", { timeout: 20000 }).catch(() => check.found.push("search: `late data` is not found"));
    await page.screenshot({ path: join(screenshots, "search.png") });
    await page.close();
}

await checked({ modules, folder, screenshots, chromium, pages, what: "site" }, search);
