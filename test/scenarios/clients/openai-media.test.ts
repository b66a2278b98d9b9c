import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAllKindsFarm } from "../../harness/all-kinds-farm.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";

const cleanup = new Cleanup();
let farm: Awaited<ReturnType<typeof startAllKindsFarm>>;
let client: OpenAI;

beforeAll(async () => {
  farm = await startAllKindsFarm(cleanup);
  client = new OpenAI({ baseURL: `${farm.url}/v1`, apiKey: "none" });
});
afterAll(() => cleanup.run());

const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const sound = () => toFile(Buffer.alloc(40_000, "sound"), "said.wav");
const picture = () => toFile(Buffer.concat([PNG_START, Buffer.alloc(3_000, 7)]), "picture.png", { type: "image/png" });

// "b" is a bare engine, "x" one behind an agent.
describe.each(["b", "x"])("OpenAI's client with sound and pictures of worker %s", (worker) => {
  const model = `${worker}-sound`;
  const painter = `${worker}-draw`;

  it("speaks, the same bytes each time", async () => {
    const speak = async () => {
      const answer = await client.audio.speech.create({
        model,
        voice: "alloy",
        input: "Mind the gate.",
        response_format: "wav",
      });
      expect(answer.headers.get("content-type")).toMatch(/^audio\//);
      return Buffer.from(await answer.arrayBuffer());
    };
    const said = await speak();
    expect(said.subarray(0, 4).toString()).toBe("RIFF");
    expect(said.readUInt32LE(4)).toBe(said.length - 8);
    expect((await speak()).equals(said)).toBe(true);
  });

  it("transcribes and translates a file", async () => {
    const heard = await client.audio.transcriptions.create({ model, file: await sound() });
    expect(heard.text).toMatch(/\S/);
    const again = await client.audio.transcriptions.create({
      file: await sound(),
      model,
      response_format: "verbose_json",
    });
    expect(again.text).toBe(heard.text);
    expect((await client.audio.translations.create({ model, file: await sound() })).text).toMatch(/\S/);
  });

  it("draws, edits and varies pictures", async () => {
    const drawn = await client.images.generate({ model: painter, prompt: "a farm gate", n: 2 });
    expect(drawn.data).toHaveLength(2);
    const edited = await client.images.edit({ model: painter, image: await picture(), prompt: "at night" });
    const varied = await client.images.createVariation({ model: painter, image: await picture() });
    for (const { data } of [drawn, edited, varied]) {
      expect(Buffer.from(data?.[0]?.b64_json ?? "", "base64").subarray(0, 4)).toEqual(PNG_START);
    }
  });

  it("is told where a model does something else", async () => {
    const asked = client.audio.speech.create({ model: `${worker}-emb`, voice: "alloy", input: "Hi" });
    await expect(asked).rejects.toMatchObject({ status: expect.toSatisfy((s) => s === 404 || s === 501) as number });
  });
});
