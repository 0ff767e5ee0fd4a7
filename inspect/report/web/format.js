// Numbers and steps as text.
'use strict';

const NARROW = '\u202f', FIXED = '\u00a0';
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function groupDigits(n) {
  const sign = n < 0 ? '−' : '';
  return sign + String(Math.abs(Math.round(n))).replace(/\B(?=(\d{3})+$)/g, NARROW);
}

function powerOfTen(exponent) {
  return '10' + String(exponent).replace('-', '⁻').replace(/\d/g, (d) => SUPERSCRIPTS[d]);
}

/** Three digits: 0.0185, 1 312, 2.9·10⁻⁵; "–" for an absent value. */
function numberText(x, digits = 3) {
  if (Number.isNaN(x) || x === undefined || x === null) return '–';
  if (!Number.isFinite(x)) return 'not finite';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split('e');
    const front = String(Number(mantissa)).replace('-', '−');
    return front === '1' ? powerOfTen(Number(exponent)) : front + '·' + powerOfTen(Number(exponent));
  }
  if (size >= 1000) return groupDigits(x);
  return String(Number(x.toPrecision(digits))).replace('-', '−');
}

function percentText(share) {
  return Number.isFinite(share) ? numberText(100 * share, 2) + FIXED + '%' : numberText(share);
}

/** A power of ten on an axis: 0.01, 1, 100, else 10⁻⁵. */
function decadeText(x) {
  const exponent = Math.round(Math.log10(x));
  return exponent >= -2 && exponent <= 3 ? groupDigitsOrFraction(10 ** exponent) : powerOfTen(exponent);
}

function groupDigitsOrFraction(x) { return x >= 1 ? groupDigits(x) : String(Number(x.toPrecision(3))); }

/** A shortened layer name. */
function shortName(name) {
  return name.replace(/\blayers?\.(\d+)\.?/g, 'L$1 ')
      .replace(/self_attn/g, 'attn')
      .replace(/embedding/g, 'embed')
      .replace(/weight/g, 'w')
      .replace(/\.w$/, '')
      .trim();
}

/** An element with a class and text or children. */
function element(tag, className = '', ...children) {
  const out = document.createElement(tag);
  if (className) out.className = className;
  out.append(...children.filter((child) => child !== null && child !== undefined));
  return out;
}
