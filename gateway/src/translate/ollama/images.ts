/** How the base64 text of each kind of picture begins. */
const STARTS: readonly (readonly [start: string, type: string])[] = [
  ["/9j/", "image/jpeg"],
  ["iVBORw0KGgo", "image/png"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
  ["Qk", "image/bmp"],
];

/** A base64 picture as a data URL; one that is a URL already stays as it is. */
function imageUrl(image: string): string {
  if (image.startsWith("data:")) return image;
  const type = STARTS.find(([start]) => image.startsWith(start))?.[1] ?? "image/jpeg";
  return `data:${type};base64,${image}`;
}

/** A message's content: its text, and its pictures behind it. */
export function contentWith(text: string, images: readonly string[] | null | undefined): string | object[] {
  if (images === null || images === undefined || images.length === 0) return text;
  const pictures = images.map((image) => ({ type: "image_url", image_url: { url: imageUrl(image) } }));
  return text === "" ? pictures : [{ type: "text", text }, ...pictures];
}
