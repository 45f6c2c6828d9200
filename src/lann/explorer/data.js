// Arrays and their header from the compressed text that lann/explorer/_pack.py writes.

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
// Characters of base64 that are decoded at once: a multiple of 4.
const PART = 2 ** 20;

// The arrays of a text, by name, and its header.
export async function unpack(text) {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  const written = (async () => {
    for (let start = 0; start < text.length; start += PART) {
      const binary = atob(text.slice(start, start + PART));
      const bytes = new Uint8Array(binary.length);
      for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
      await writer.write(bytes);
    }
    await writer.close();
  })();
  const bytes = new Uint8Array(await new Response(stream.readable).arrayBuffer());
  await written;
  const start = 8 + new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  const arrays = {};
  for (const [name, entry] of Object.entries(header.arrays)) arrays[name] = fromPlanes(bytes, start, entry);
  return { header, arrays };
}

// The numbers of an array whose bytes are stored plane by plane.
function fromPlanes(bytes, start, { type, length, at }) {
  const values = new TYPES[type](length);
  const out = new Uint8Array(values.buffer);
  const width = values.BYTES_PER_ELEMENT;
  for (let plane = 0; plane < width; plane++) {
    const from = start + at + plane * length;
    for (let i = 0, to = plane; i < length; i++, to += width) out[to] = bytes[from + i];
  }
  return values;
}

// The numbers of a column of `Pack.add_column`.
export function unpackColumn(arrays, name) {
  const distinct = arrays[`${name} values`];
  return distinct ? Float64Array.from(arrays[name], (code) => distinct[code]) : Float64Array.from(arrays[name]);
}
