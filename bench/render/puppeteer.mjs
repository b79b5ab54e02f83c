// Renders one file again and again with puppeteer-core, the way its documentation shows.
//
// node puppeteer.mjs launch|warm BROWSER HTML COUNT CONCURRENCY [contexts]
// launch: a browser per document. warm: one browser, a page per document; with `contexts` a browser context per
// document as well. Prints one JSON object.
import { readFileSync } from 'node:fs';
import puppeteer from 'puppeteer-core';

const [mode, executablePath, file, count, concurrency, contexts] = process.argv.slice(2);
const html = readFileSync(file, 'utf8');
const options = { executablePath, headless: 'shell', pipe: true, args: ['--no-sandbox', '--disable-gpu'] };
const margin = { top: '1in', bottom: '1in', left: '1in', right: '1in' };

async function print(browser) {
  const context = contexts ? await browser.createBrowserContext() : browser;
  const page = await context.newPage();
  await page.setContent(html, { waitUntil: 'load' });
  const pdf = await page.pdf({ format: 'Letter', margin, printBackground: true, tagged: true, outline: true });
  await (contexts ? context.close() : page.close());
  return pdf.length;
}

const times = [];
let bytes = 0;
async function lane(number, browser) {
  for (let i = 0; i < number; ++i) {
    const began = performance.now();
    if (browser) {
      bytes = await print(browser);
    } else {
      const own = await puppeteer.launch(options);
      bytes = await print(own);
      await own.close();
    }
    times.push((performance.now() - began) / 1000);
  }
}

const shared = mode === 'warm' ? await puppeteer.launch(options) : null;
if (shared) await print(shared);
const began = performance.now();
await Promise.all(Array.from({ length: +concurrency }, () => lane(Math.floor(count / concurrency), shared)));
const seconds = (performance.now() - began) / 1000;
if (shared) await shared.close();
times.sort((a, b) => a - b);
console.log(JSON.stringify({ documents: times.length, warm_s: seconds, median_s: times[Math.floor(times.length / 2)], bytes }));
