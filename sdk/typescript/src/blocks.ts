import type { Message } from "./messages.js";

/** A user's message as text, or as the blocks that compile takes. */
export function blocksOf({ content, parts }: Message): unknown {
  const given = content ?? parts;
  if (!Array.isArray(given)) return given;
  return given.map((part) => {
    if (typeof part.text === "string") return { type: "text", text: part.text };
    const url: string | undefined = part.source?.url ?? part.image_url?.url ?? part.image_url ?? (typeof part.image === "string" ? part.image : undefined);
    const data = /^data:([^;]+);base64,(.*)$/s.exec(url ?? "");
    if (data) return { type: "image", media_type: data[1], data: data[2] };
    if (part.source?.data) return { type: "image", media_type: part.source.media_type, data: part.source.data };
    return url ? { type: "image", url } : part;
  });
}
