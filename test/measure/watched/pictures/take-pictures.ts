// The page and its pictures as files.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { findProgram } from "../../../bench/targets/find-program.ts";
import type { Size } from "./drawing.ts";
import type { Page } from "./page.ts";

/** Of each picture, on a busy machine. */
const PATIENCE_MS = 60_000;
const AT_A_TIME = 2;

interface Picture {
  file: string;
  url: string;
  size: Size;
}

/** Writes `dashboard.html` into the folder and, where chromium is there, a PNG of it and of each panel. */
export async function takePictures(page: Page, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const file = resolve(folder, "dashboard.html");
  writeFileSync(file, page.html);
  console.error(`written: ${file}`);
  const chromium = findProgram("chromium");
  if (chromium === undefined) {
    console.error("no PNGs: chromium is not installed (apt-get install chromium)");
    return;
  }
  const url = pathToFileURL(file).href;
  const pictures: Picture[] = [
    { file: "dashboard.png", url, size: page.size },
    ...page.panels.map(({ id, title, size }) => ({ file: `${fileName(id, title)}.png`, url: `${url}#${id}`, size })),
  ];
  const left = pictures.values();
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (const picture of left) await take(chromium, folder, picture);
    }),
  );
  console.error(`written: ${pictures.length} PNGs`);
}

async function take(chromium: string, folder: string, { file, url, size }: Picture): Promise<void> {
  // Two that share a profile would wait for one another.
  const profile = mkdtempSync(join(tmpdir(), "farmgate-chromium-"));
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", `--user-data-dir=${profile}`];
  args.push(`--window-size=${size.width},${size.height}`, `--screenshot=${resolve(folder, file)}`, url);
  try {
    await promisify(execFile)(chromium, args, { timeout: PATIENCE_MS, killSignal: "SIGKILL" });
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function fileName(id: string, title: string): string {
  return `${id}-${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
}
