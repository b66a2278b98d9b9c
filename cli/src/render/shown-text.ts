import { plainText } from "@farmgate/shared";
import { z } from "zod";

/** A text of a gateway's answer. Callers and workers chose some of them, as the names of models. */
export const shownText = z.string().transform(plainText);
