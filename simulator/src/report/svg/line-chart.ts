import { evenTicks, powerTicks } from "./ticks.ts";

export interface Line {
  name: string;
  /** A point without a value breaks the line. */
  points: readonly { x: number; y: number | null }[];
}

export interface Chart {
  title: string;
  x: Axis;
  y: Axis;
  lines: readonly Line[];
}

export interface Axis {
  label: string;
  /** Powers of ten lie evenly; what is not above 0 is left out. */
  isLog?: boolean;
  /** null, absent: as the points have it. */
  least?: number | null;
  most?: number | null;
}

const WIDTH = 900;
const HEIGHT = 420;
const PLOT = { left: 70, right: 690, top: 44, bottom: 360 };
/** Told apart by people who see colours differently too (Okabe and Ito), and by their dashes in print. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7a7a00"];
const DASHES = ["", "6 3", "2 2", "9 3 2 3"];

/** Lines over one another with a legend beside them, as a whole SVG file. */
export function lineChart({ title, x, y, lines }: Chart): string {
  const points = lines.flatMap((line) => line.points);
  const across = scaleOf(
    x,
    points.map((point) => point.x),
    PLOT.left,
    PLOT.right,
    8,
  );
  const up = scaleOf(
    y,
    points.flatMap((point) => point.y ?? []),
    PLOT.bottom,
    PLOT.top,
    6,
  );
  const parts = [
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text((PLOT.left + PLOT.right) / 2, 24, title, 'text-anchor="middle" font-size="15" font-weight="bold"'),
    ...up.ticks.map((tick) => {
      const at = round(up.place(tick));
      const rule = `<path d="M${PLOT.left} ${at}H${PLOT.right}" stroke="#ddd"/>`;
      return rule + text(PLOT.left - 8, at + 4, shown(tick), 'text-anchor="end"');
    }),
    ...across.ticks.map((tick) => {
      const at = round(across.place(tick));
      const rule = `<path d="M${at} ${PLOT.bottom}v5" stroke="#333"/>`;
      return rule + text(at, PLOT.bottom + 19, shown(tick), 'text-anchor="middle"');
    }),
    `<path d="M${PLOT.left} ${PLOT.top}V${PLOT.bottom}H${PLOT.right}" fill="none" stroke="#333"/>`,
    text((PLOT.left + PLOT.right) / 2, HEIGHT - 20, x.label, 'text-anchor="middle"'),
    text(0, 0, y.label, `text-anchor="middle" transform="translate(18 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)"`),
    ...lines.map((line, i) => `<path d="${path(line, across, up)}" fill="none" ${stroke(i)}/>`),
    ...lines.map(({ name }, i) => {
      const at = PLOT.top + 10 + i * 20;
      const mark = `<path d="M${PLOT.right + 18} ${at}h26" fill="none" ${stroke(i)}/>`;
      return mark + text(PLOT.right + 50, at + 4, name, "");
    }),
  ];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`;
  return `${head} font-family="sans-serif" font-size="12" fill="#222">\n${parts.join("\n")}\n</svg>\n`;
}

interface Scale {
  ticks: number[];
  /** Outside of the scale is shown at its edge. */
  place(value: number): number;
  has(value: number): boolean;
}

function scaleOf(axis: Axis, values: readonly number[], from: number, to: number, about: number): Scale {
  const isLog = axis.isLog === true;
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value) || (isLog && value <= 0)) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (least > most) [least, most] = isLog ? [1, 10] : [0, 1];
  least = axis.least ?? least;
  most = axis.most ?? most;
  if (least === most) most = isLog ? least * 10 : least + 1;
  const ticks = isLog ? powerTicks(least, most) : evenTicks(least, most, about);
  const low = isLog ? (ticks[0] ?? least) : least;
  const high = isLog ? (ticks.at(-1) ?? most) : Math.max(most, ticks.at(-1) ?? most);
  const flat = (value: number) => (isLog ? Math.log10(value) : value);
  const share = (value: number) => (flat(value) - flat(low)) / (flat(high) - flat(low));
  const place = (value: number) => from + (to - from) * Math.min(1, Math.max(0, share(value)));
  return { ticks, place, has: (value) => Number.isFinite(value) && (!isLog || value > 0) };
}

function path({ points }: Line, across: Scale, up: Scale): string {
  let isDrawn = false;
  let drawn = "";
  for (const { x, y } of points) {
    const hasPlace = y !== null && across.has(x) && up.has(y);
    if (hasPlace) drawn += `${isDrawn ? "L" : "M"}${round(across.place(x))} ${round(up.place(y))}`;
    isDrawn = hasPlace;
  }
  return drawn;
}

function stroke(i: number): string {
  const dash = DASHES[Math.floor(i / COLOURS.length + i) % DASHES.length] ?? "";
  const dashed = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
  return `stroke="${COLOURS[i % COLOURS.length] ?? "#000"}" stroke-width="1.8" stroke-linejoin="round"${dashed}`;
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function shown(value: number): string {
  return Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(0) : String(value);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
