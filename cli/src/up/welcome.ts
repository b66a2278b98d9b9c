import { plainText } from "@farmgate/shared";
import { DEFAULT_GATEWAY } from "../flags.ts";
import { count } from "../render/count.ts";
import type { ChosenFarm } from "./choose-farm.ts";
import type { Trouble } from "./farm-processes.ts";

export interface WelcomeFacts {
  /** The gateway's address. */
  url: string;
  origin: ChosenFarm["origin"];
  file: string;
  engines: ChosenFarm["engines"];
  /** A chat model to ask for; null when none is listed yet. */
  model: string | null;
  /** The gateway wants a key. */
  keyNeeded: boolean;
  /** The names that the gateway's certificate is for; null: it speaks plain HTTP. */
  certificateNames: string | null;
  troubles: readonly Trouble[];
  /** How this program is called here: `farmgate`, or through npm. */
  command: string;
}

/** What `up` tells once the farm is up: the address, and commands to paste. */
export function welcome(facts: WelcomeFacts): string {
  const key = facts.keyNeeded ? ` -H "Authorization: Bearer $FARMGATE_KEY"` : "";
  const body = JSON.stringify({
    model: facts.model ?? "MODEL",
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
  });
  const lines = [
    "",
    `Farmgate is up: ${facts.url} (OpenAI clients: ${facts.url}/v1)`,
    origin(facts),
    ...facts.troubles.map(({ plan, reason }) => `NOT UP: ${plan.title}: ${reason}`),
    ...(facts.certificateNames === null ? [] : [certificateLine(facts.certificateNames)]),
    "",
    "In another terminal:",
    ...(facts.keyNeeded ? ["  export FARMGATE_KEY=... # one of the file's keys"] : []),
    `  curl${key} ${facts.url}/v1/models`,
    `  curl -N${key} ${facts.url}/v1/chat/completions -H 'content-type: application/json' \\`,
    `    -d ${shellQuoted(body)}`,
    `  ${statusCommand(facts)}`,
    "",
    `Live state as JSON: ${facts.url}/farm/workers, .../models, .../requests`,
    "Ctrl-C ends the farm.",
    "",
    "",
  ];
  return lines.join("\n");
}

function certificateLine(names: string): string {
  const whose = names === "" ? "its common name" : plainText(names);
  return `Its certificate is for ${whose}: ask by such a name, and trust who signed it (curl --cacert FILE, NODE_EXTRA_CA_CERTS=FILE).`;
}

/** As one word of a shell: an engine chose the model's name, and the line is there to be pasted. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function origin(facts: WelcomeFacts): string {
  switch (facts.origin) {
    case "demo":
      return "This is the demo farm: its three workers are SIMULATED, their answers invented.";
    case "found-engines": {
      const engines = facts.engines.map(({ name, url, models }) => `${name} at ${url} (${count(models, "model")})`);
      return `Engines found on this machine: ${engines.join(", ")}`;
    }
    case "named":
    case "found-file":
      return `Configuration: ${facts.file}`;
  }
}

/** `farmgate status`, with the address where it is not the usual one. */
function statusCommand(facts: WelcomeFacts): string {
  const command = `${facts.command} status`;
  return facts.url === DEFAULT_GATEWAY ? command : `${command} --gateway ${facts.url}`;
}
