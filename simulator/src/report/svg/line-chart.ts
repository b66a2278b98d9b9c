import { evenTicks, powerTicks } from "./ticks.ts";

export interface Line {
  name: string;
  /** Absent: one that its neighbours do not have. */
  colour?: string;
  /** A point without a value breaks the line. With `from` the room down to there is filled. */
  points: readonly { x: number; y: number | null; from?: number }[];
}

export interface Chart {
  title: string;
  x: Axis;
  y: Axis;
  lines: readonly Line[];
  /** The pixels of a chart in a page that tells title, axes and lines itself; absent: they are told in the file. */
  bare?: { width: number; height: number };
}

export interface Axis {
  label: string;
  /** How its values are written. */
  shown?: (value: number) => string;
  /** Nothing between whole numbers is marked. */
  isWhole?: boolean;
  /** Powers of ten lie evenly; what is not above 0 is left out. */
  isLog?: boolean;
  /** null, absent: as the points have it. */
  least?: number | null;
  most?: number | null;
}

const WHOLE = { width: 900, height: 420 };
/** About as wide as a letter. */
const LETTER = 6.8;
const WHOLE_PLOT = { left: 70, right: 690, top: 44, bottom: 360 };
/** Told apart by people who see colours differently too (Okabe and Ito), and by their dashes in print. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7a7a00"];
const DASHES = ["", "6 3", "2 2", "9 3 2 3"];

/** Lines over one another as a whole SVG file, with a legend beside them unless it is bare. */
export function lineChart({ title, x, y, lines, bare }: Chart): string {
  const { width, height } = bare ?? WHOLE;
  const [top, bottom] = bare === undefined ? [WHOLE_PLOT.top, WHOLE_PLOT.bottom] : [8, height - 24];
  const points = lines.flatMap((line) => line.points);
  const up = scaleOf(
    y,
    points.flatMap((point) => point.y ?? []),
    bottom,
    top,
    Math.max(2, Math.min(6, Math.round((bottom - top) / 40))),
  );
  const widest = Math.max(0, ...up.ticks.map((tick) => (y.shown ?? shown)(tick).length));
  const [left, right] =
    bare === undefined ? [WHOLE_PLOT.left, WHOLE_PLOT.right] : [20 + widest * LETTER, width - 4 * LETTER - 8];
  const plot = { left, right, top, bottom };
  const across = scaleOf(
    x,
    points.map((point) => point.x),
    left,
    right,
    Math.max(2, Math.min(8, Math.round((right - left) / 78))),
  );
  const middle = (plot.left + plot.right) / 2;
  const parts = [
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...up.ticks.map((tick) => {
      const at = round(up.place(tick));
      const rule = `<path d="M${plot.left} ${at}H${plot.right}" stroke="#ddd"/>`;
      return rule + text(plot.left - 8, at + 4, (y.shown ?? shown)(tick), 'text-anchor="end"');
    }),
    ...across.ticks.map((tick) => {
      const at = round(across.place(tick));
      const rule = `<path d="M${at} ${plot.bottom}v5" stroke="#333"/>`;
      return rule + text(at, plot.bottom + 19, (x.shown ?? shown)(tick), 'text-anchor="middle"');
    }),
    `<path d="M${plot.left} ${plot.top}V${plot.bottom}H${plot.right}" fill="none" stroke="#333"/>`,
    ...lines.flatMap((line, i) => {
      const filled = area(line, across, up);
      return filled === "" ? [] : `<path d="${filled}" fill="${colourOf(line, i)}" fill-opacity="0.25"/>`;
    }),
    ...lines.map((line, i) => `<path d="${path(line, across, up)}" fill="none" ${lineStroke(line, i)}/>`),
  ];
  if (bare === undefined) {
    parts.push(
      text(middle, 24, title, 'text-anchor="middle" font-size="15" font-weight="bold"'),
      text(middle, height - 20, x.label, 'text-anchor="middle"'),
      text(0, 0, y.label, `text-anchor="middle" transform="translate(18 ${(plot.top + plot.bottom) / 2}) rotate(-90)"`),
      ...lines.map((line, i) => {
        const at = plot.top + 10 + i * 20;
        const mark = `<path d="M${plot.right + 18} ${at}h26" fill="none" ${lineStroke(line, i)}/>`;
        return mark + text(plot.right + 50, at + 4, line.name, "");
      }),
    );
  }
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
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
  const ticks = isLog
    ? powerTicks(least, most)
    : evenTicks(least, most, axis.isWhole === true ? Math.min(about, most - least) : about);
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

/** Between the line and `from`; empty where nothing is to be filled. */
function area({ points }: Line, across: Scale, up: Scale): string {
  let drawn = "";
  let over: { x: number; y: number; from: number }[] = [];
  const close = () => {
    const edge = [...over, ...over.toReversed().map(({ x, from }) => ({ x, y: from }))];
    const places = edge.map(({ x, y }) => `${round(across.place(x))} ${round(up.place(y))}`);
    if (over.length > 1) drawn += `M${places.join("L")}Z`;
    over = [];
  };
  for (const { x, y, from } of points) {
    if (y !== null && from !== undefined && across.has(x) && up.has(y)) over.push({ x, y, from });
    else close();
  }
  close();
  return drawn;
}

function colourOf({ colour }: Pick<Line, "colour">, i: number): string {
  return colour ?? COLOURS[i % COLOURS.length] ?? "#000";
}

/** The attributes of line number `i`, for a legend elsewhere. */
export function lineStroke(line: Pick<Line, "colour">, i: number): string {
  const dash = DASHES[Math.floor(i / COLOURS.length + i) % DASHES.length] ?? "";
  const dashed = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
  return `stroke="${colourOf(line, i)}" stroke-width="1.8" stroke-linejoin="round"${dashed}`;
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
