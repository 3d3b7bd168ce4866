// Opens five pages of the built site in headless Chromium, from the disk, at two widths, light and dark.
// Fails for: a script's error, a request beyond the disk, text that is wider than the window, a serious finding of axe-core,
// a diagram that is not drawn, a search without a result. Pictures go to SCREENSHOTS.
// usage: node check.mjs NODE_MODULES SITE SCREENSHOTS CHROMIUM
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, site, screenshots, chromium] = process.argv.slice(2);
const { default: puppeteer } = await import(pathToFileURL(createRequire(join(resolve(modules), "x.js")).resolve("puppeteer-core")));
const axe = readFileSync(join(modules, "axe-core/axe.min.js"), "utf8");

const PAGES = [
    "index.html",
    "tutorials/first-hour.html",
    "how-to/ledger-on-postgresql.html",
    "concepts/entities.html",
    "reference/ledger.html",
];
const WIDTHS = [1400, 400];
const SCHEMES = ["light", "dark"];
const SERIOUS = ["serious", "critical"];
const found = [];

// Elements that reach beyond the window and are not in one that scrolls by itself.
function tooWide() {
    const scrolls = (element) => element && (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    return [...document.querySelectorAll("main *")]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement))
        .slice(0, 3)
        .map((element) => element.outerHTML.slice(0, 120));
}

async function look(browser, name, width, scheme) {
    const page = await browser.newPage();
    const report = (text) => found.push(`${name} at ${width} pixels, ${scheme}: ${text}`);
    page.on("pageerror", (error) => report(`script: ${error.message}`));
    page.on("console", (message) => message.type() === "error" && report(`console: ${message.text()}`));
    page.on("request", (request) => /^(file|data|blob|about):/.test(request.url()) || report(`request: ${request.url()}`));
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(pathToFileURL(resolve(site, name)).href, { waitUntil: "load" });
    await page.waitForFunction(() => !document.querySelector("pre.mermaid"), { timeout: 20000 }).catch(() => report("a diagram is not drawn"));
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) {
        report(`wider than the window: ${(await page.evaluate(tooWide)).join(" | ")}`);
    }
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"], preload: false }));
    for (const violation of violations.filter((each) => SERIOUS.includes(each.impact))) {
        report(`axe: ${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")} (${violation.nodes.length})`);
    }
    await page.screenshot({ path: join(screenshots, `${name.replaceAll("/", "-").replace(".html", "")}-${width}-${scheme}.png`) });
    await page.close();
}

async function search(browser) {
    const page = await browser.newPage();
    await page.setViewport({ width: 1400, height: 900 });
    await page.goto(pathToFileURL(resolve(site, PAGES[0])).href, { waitUntil: "networkidle0" });
    await page.keyboard.press("/");
    await page.keyboard.type("late data", { delay: 20 });
    await page.waitForSelector(">>> a[href*='late-data.html?h=']", { timeout: 20000 }).catch(() => found.push("search: `late data` is not found"));
    await page.screenshot({ path: join(screenshots, "search.png") });
    await page.close();
}

mkdirSync(screenshots, { recursive: true });
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"] });
try {
    for (const name of PAGES) for (const width of WIDTHS) for (const scheme of SCHEMES) await look(browser, name, width, scheme);
    await search(browser);
} finally {
    await browser.close();
}
console.log(found.length ? found.join("\n") : `site: ${PAGES.length} pages at ${WIDTHS.join(" and ")} pixels, light and dark: no findings`);
process.exit(found.length ? 1 : 0);
