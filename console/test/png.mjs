/* A picture with at most 256 colours in place of one with any: a page of text weighs a third of it, and looks the same. */
import { deflateSync, inflateSync } from "node:zlib";

const COLOURS = 256;
const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

/** Of a PNG of 8 bits a channel, as browsers write it. */
export function small(png) {
  const { width, height, channels, pixels } = decoded(png);
  const often = new Map();
  for (let at = 0; at < pixels.length; at += channels) {
    const colour = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
    often.set(colour, (often.get(colour) ?? 0) + 1);
  }
  const palette = chosen([...often].sort(([, one], [, other]) => other - one).map(([colour]) => colour));
  const place = new Map(palette.map((colour, index) => [colour, index]));
  for (const colour of often.keys()) if (!place.has(colour)) place.set(colour, nearest(palette, colour));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0; x < width; x++, from += channels) rows[y * (width + 1) + 1 + x] = place.get((pixels[from] << 16) | (pixels[from + 1] << 8) | pixels[from + 2]);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("PLTE", colours), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

/** The most frequent of those that look alike come first: else a hundred greys of letters leave no room for a red word. */
function chosen(colours) {
  const alike = new Set();
  const first = colours.filter((colour) => !alike.has(colour & 0xe0e0e0) && alike.add(colour & 0xe0e0e0));
  return [...new Set([...first, ...colours])].slice(0, COLOURS);
}

function nearest(palette, colour) {
  let [best, least] = [0, Infinity];
  for (const [index, one] of palette.entries()) {
    const far = [16, 8, 0].reduce((sum, by) => sum + (((one >> by) & 255) - ((colour >> by) & 255)) ** 2, 0);
    if (far < least) [best, least] = [index, far];
  }
  return best;
}

function decoded(png) {
  let [width, height, channels] = [0, 0, 3];
  const parts = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") [width, height, channels] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9] === 6 ? 4 : 3];
    if (type === "IDAT") parts.push(body);
    at += length + 12;
  }
  const lines = inflateSync(Buffer.concat(parts));
  const wide = width * channels;
  const pixels = Buffer.alloc(wide * height);
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (wide + 1)];
    for (let x = 0; x < wide; x++) {
      const to = y * wide + x;
      const left = x < channels ? 0 : pixels[to - channels];
      const up = y ? pixels[to - wide] : 0;
      const both = x < channels || !y ? 0 : pixels[to - wide - channels];
      const by = [0, left, up, (left + up) >> 1, paeth(left, up, both)][filter];
      pixels[to] = lines[y * (wide + 1) + 1 + x] + by;
    }
  }
  return { width, height, channels, pixels };
}

function paeth(left, up, both) {
  const [a, b, c] = [left, up, both].map((one) => Math.abs(left + up - both - one));
  return a <= b && a <= c ? left : b <= c ? up : both;
}

function chunk(type, body) {
  const whole = Buffer.alloc(body.length + 12);
  whole.writeUInt32BE(body.length, 0);
  whole.write(type, 4, "latin1");
  whole.set(body, 8);
  whole.writeUInt32BE(crc(whole.subarray(4, body.length + 8)), body.length + 8);
  return whole;
}

function crc(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
