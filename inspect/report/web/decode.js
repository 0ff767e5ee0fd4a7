
// Decodes the values that inspect/report/downsample_json.cpp writes.
const ZERO = 65533, BROKEN = 65534, ABSENT = 65535;

function bytesOf(base64) { return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)); }

/** NaN: no value; Infinity: no finite value. */
function decodeValues(base64, json) {
  const view = new DataView(bytesOf(base64).buffer);
  const out = new Float64Array(json.rows * json.buckets);
  for (let i = 0; i < out.length; ++i) {
    if (json.decades === undefined) {
      out[i] = view.getFloat32(4 * i, true);
      continue;
    }
    const code = view.getUint16(2 * i, true);
    out[i] = code === ABSENT ? NaN :
        code === BROKEN      ? Infinity :
        code === ZERO        ? 0 :
                               10 ** (json.from + code * json.decades);
  }
  return out;
}

class Bands {
  constructor(json) {
    this.rows = json.rows;
    this.buckets = json.buckets;
    this.middle = decodeValues(json.middle, json);
    this.low = json.low ? decodeValues(json.low, json) : this.middle;
    this.high = json.high ? decodeValues(json.high, json) : this.middle;
    this.broken = json.broken ? bytesOf(json.broken) : new Uint8Array(this.middle.length);
  }

  at(row, bucket, which = 'middle') { return this[which][row * this.buckets + bucket]; }

  brokenAt(row, bucket) { return this.broken[row * this.buckets + bucket]; }

  /** The last bucket at or before one in which a row has a value. */
  nearest(row, bucket) {
    for (let b = Math.min(bucket, this.buckets - 1); b >= 0; --b)
      if (!Number.isNaN(this.at(row, b))) return b;
    return bucket;
  }

  /** Whether buckets hold several steps whose values differ. */
  get spread() { return this.low !== this.middle; }
}

/** Median of the finite numbers; NaN without any. */
function medianOf(values) {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return NaN;
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
