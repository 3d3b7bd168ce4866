// Looks at the pages of `feedctl page` as look.mjs says, searches, works with a graph by mouse and by keyboard, and opens one without scripts.
// usage: node pages.mjs NODE_MODULES FOLDER SCREENSHOTS CHROMIUM
import { join } from "node:path";
import { checked, open } from "./look.mjs";

const [modules, folder, screenshots, chromium] = process.argv.slice(2);
const FEED = "feeds/layer-1-feed-0.html";
const pages = ["index.html", "lists/feeds.html", FEED, "processes/make-layer-1-feed-0.html", "lineage.html", "tables.html", "tables/mart.sales.html", "../pages-of-runs/result.html"];

async function search(check) {
    const { page, report } = await open(check, FEED, 1400);
    await page.keyboard.press("/");
    await page.keyboard.type("layer-3 feed-2", { delay: 20 });
    const link = await page.waitForSelector(".search a[href*='layer-3-feed-2']", { timeout: 5000 }).catch(() => report("search finds nothing"));
    if (link) await Promise.all([page.waitForNavigation(), link.click()]);
    if (!page.url().includes("layer-3-feed-2")) report(`search leads to ${page.url()}`);
    await page.close();
}

async function graph(check) {
    const { page, report } = await open(check, FEED, 1400);
    const seen = () => page.evaluate(() => ({
        view: document.querySelector("figure.graph svg").getAttribute("viewBox"),
        cards: [...document.querySelectorAll(".card")].filter((each) => each.getClientRects().length).length,
        more: document.querySelectorAll(".more").length,
        lit: document.querySelectorAll(".card.lit").length,
    }));
    const expect = async (what, holds) => {
        const now = await seen();
        if (!holds(now)) report(`graph: ${what}: ${JSON.stringify(now)}`);
        return now;
    };
    const first = await seen();
    await page.click(".card .vertex.focus rect", { offset: { x: 3, y: 12 } });
    await expect("a click marks the lineage of a box", ({ lit }) => lit > 2);
    await page.click(".graph-buttons button[title^='Show the marked']");
    const few = await expect("its neighbours alone", ({ cards, more, lit }) => cards > 2 && cards < first.cards && more > 0 && lit === 0);
    await page.screenshot({ path: join(screenshots, "graph-neighbours.png") });
    await page.click(".more");
    await expect("a click on the number shows more", ({ cards }) => cards > few.cards);
    await page.$eval(".more", (each) => each.focus());
    const before = await seen();
    await page.keyboard.press("Enter");
    await expect("so does Enter", ({ cards }) => cards > before.cards);
    await page.click(".graph-buttons button[title^='Show the whole']");
    const whole = await expect("the whole graph", ({ cards, more }) => cards === first.cards && more === 0);
    await page.$eval(".graph-frame", (each) => each.focus());
    for (const key of ["+", "ArrowRight"]) await page.keyboard.press(key);
    const moved = await expect("keys zoom and pan", ({ view }) => view !== whole.view);
    const box = await (await page.$(".graph-frame")).boundingBox();
    await page.mouse.move(box.x + 20, box.y + 20);
    await page.mouse.wheel({ deltaY: 200 });
    await page.waitForFunction((before) => document.querySelector("figure.graph svg").getAttribute("viewBox") !== before, { timeout: 5000 }, moved.view).catch(() => {});
    const wheeled = await expect("the wheel zooms", ({ view }) => view !== moved.view);
    await page.mouse.down();
    await page.mouse.move(box.x + 90, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await expect("a drag pans", ({ view }) => view !== wheeled.view);
    await page.keyboard.press("0");
    await expect("0 fits the graph", ({ view }) => view !== wheeled.view);
    await page.$eval(".vertex a", (each) => each.focus());
    await Promise.all([page.waitForNavigation({ timeout: 5000 }).catch(() => report("Enter on a name opens no page")), page.keyboard.press("Enter")]);
    await page.close();
}

async function withoutScripts(check) {
    const { page, report } = await open(check, FEED, 400, "dark", false);
    await page.screenshot({ path: join(screenshots, "without-scripts-400-dark.png"), fullPage: true });
    const [link, frame] = [await page.$(".vertex a"), await page.$(".graph-frame")];
    if (!link || !(await frame.boundingBox()).height) report("there is no graph without scripts");
    await page.close();
}

async function paint(check) {
    for (const name of ["index.html", "lineage.html"]) {
        const { page } = await open(check, name, 1400);
        const painted = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime, { timeout: 10000 });
        console.log(`first paint of ${name}: ${(await painted.jsonValue()).toFixed(0)} ms`);
        await page.close();
    }
}

const only = process.env.FEEDCTL_PAGES_PAINT; // of a benchmark
await checked({ modules, folder, screenshots, chromium, pages: only ? [] : pages, what: "pages" }, async (check) => {
    if (!only) for (const each of [search, graph, withoutScripts]) await each(check);
    await paint(check);
});
