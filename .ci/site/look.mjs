// Opens pages from the disk in headless Chromium, at two widths, light and dark, and takes pictures of them.
// Fails for: a script's error, a request beyond the disk, text that is wider than the window, a serious finding of axe-core,
// a diagram that is not drawn.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const WIDTHS = [1400, 400];
const SCHEMES = ["light", "dark"];
const SERIOUS = ["serious", "critical"];
// Elements that reach beyond the window and are not in one that scrolls by itself.
function tooWide() {
    const scrolls = (element) => element && (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    return [...document.querySelectorAll("main *")]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement))
        .slice(0, 3)
        .map((element) => element.outerHTML.slice(0, 120));
}

// An open page of the folder; what goes wrong there is added to the findings.
export async function open({ browser, folder, found }, name, width, scheme = "light", scripts = true) {
    const page = await browser.newPage();
    const report = (text) => found.push(`${name} at ${width} pixels, ${scheme}: ${text}`);
    await page.setJavaScriptEnabled(scripts);
    page.on("pageerror", (error) => report(`script: ${error.message}`));
    page.on("console", (message) => message.type() === "error" && report(`console: ${message.text()}`));
    page.on("request", (request) => /^(file|data|blob|about):/.test(request.url()) || report(`request: ${request.url()}`));
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(pathToFileURL(resolve(folder, name)).href, { waitUntil: "load" });
    return { page, report };
}

async function look(check, name, width, scheme) {
    const { page, report } = await open(check, name, width, scheme);
    await page.waitForFunction(() => !document.querySelector("pre.mermaid"), { timeout: 20000 }).catch(() => report("a diagram is not drawn"));
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) {
        report(`wider than the window: ${(await page.evaluate(tooWide)).join(" | ")}`);
    }
    await page.evaluate(check.axe);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"], preload: false }));
    for (const violation of violations.filter((each) => SERIOUS.includes(each.impact))) {
        report(`axe: ${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")} (${violation.nodes.length})`);
    }
    await page.screenshot({ path: join(check.screenshots, `${name.replace("../", "").replaceAll("/", "-").replace(".html", "")}-${width}-${scheme}.png`) });
    await page.close();
}

// Looks at each page, does `more` with the browser, and ends with what was found.
export async function checked({ modules, folder, screenshots, chromium, pages, what }, more) {
    const { default: puppeteer } = await import(pathToFileURL(createRequire(join(resolve(modules), "x.js")).resolve("puppeteer-core")));
    mkdirSync(screenshots, { recursive: true });
    const args = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"];
    const browser = await puppeteer.launch({ executablePath: chromium, args });
    const check = { browser, folder, screenshots, found: [], axe: readFileSync(join(modules, "axe-core/axe.min.js"), "utf8") };
    try {
        for (const name of pages) for (const width of WIDTHS) for (const scheme of SCHEMES) await look(check, name, width, scheme);
        await more(check);
    } finally {
        await browser.close();
    }
    const { found } = check;
    console.log(found.length ? found.join("\n") : `${what}: ${pages.length} pages at ${WIDTHS.join(" and ")} pixels, light and dark: no findings`);
    process.exit(found.length ? 1 : 0);
}
