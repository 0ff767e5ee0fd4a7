// Looks at each page of expected.json in the iframe, wide and narrow, light and dark.
'use strict';

const frame = document.getElementById('frame');
let faults, checks = 0;

function check(good, text) {
  ++checks;
  if (!good) faults.push(text);
}

const pause = (ms = 50) => new Promise((resolve) => setTimeout(resolve, ms));

async function open(page, width) {
  frame.width = width;
  const loaded = new Promise((resolve) => {
    frame.onload = resolve;
  });
  frame.src = page;
  await loaded;
  await pause();
  frame.contentWindow.dispatchEvent(new Event('beforeprint'));  // draws what is not in the window, too
  frame.contentWindow.dispatchEvent(new Event('afterprint'));
  await pause();
}

const inside = () => frame.contentDocument;

/** Moves the pointer over a plot to a place in the values of its chart, and returns the lines of the tooltip. */
function hover(panel, x, y) {
  const plot = inside().querySelector(`#${panel} .plot`), canvas = plot.querySelector('canvas');
  const chart = frame.contentWindow.Chart.getChart(canvas), rect = plot.getBoundingClientRect();
  const top = y === undefined || y === null ? (chart.chartArea.top + chart.chartArea.bottom) / 2 :
                                              chart.scales.y.getPixelForValue(y);
  plot.dispatchEvent(new frame.contentWindow.PointerEvent(
      'pointermove',
      {bubbles: true, clientX: rect.left + chart.scales.x.getPixelForValue(x), clientY: rect.top + top}));
  const tip = inside().querySelector('.tooltip');
  return tip && tip.style.display !== 'none' ? [...tip.children].map((line) => line.textContent) : [];
}

/** The number at the end of "norm 2.9·10⁻⁵". */
function numberIn(text) {
  const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';
  const found = /(−?[\d.\u202f]+)(?:·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?/.exec(
      text.replace(/10⁻/g, (m, at) => (text[at - 1] === '·' ? m : '1·' + m)));
  const power = [...(found[2] ?? '⁰')].map((c) => (c === '⁻' ? '-' : digits.indexOf(c))).join('');
  return Number(found[1].replace(/\u202f/g, '').replace('−', '-')) * 10 ** Number(power);
}

/** Whether a color is in a part of a canvas around a place, in the units of its chart. */
function colorNear(panel, x, color, pixelsBelowTop) {
  const canvas = inside().querySelector(`#${panel} .plot canvas`), chart = frame.contentWindow.Chart.getChart(canvas);
  const scale = canvas.width / canvas.clientWidth, left = chart.scales.x.getPixelForValue(x) - 6;
  const [from, height] = pixelsBelowTop ?? [0, canvas.clientHeight];
  const data = canvas.getContext('2d').getImageData(left * scale, from * scale, 12 * scale, height * scale).data;
  for (let i = 0; i < data.length; i += 4)
    if (color.every((c, j) => Math.abs(c - data[i + j]) < 6) && data[i + 3] > 200) return true;
  return false;
}

function checkEverywhere(page, width) {
  const root = inside().documentElement, where = ` at ${width} px`;
  check(root.scrollWidth <= root.clientWidth, `scrolls sideways${where}: ${root.scrollWidth} > ${root.clientWidth}`);
  check(frame.contentWindow.performance.getEntriesByType('resource').length === 0, 'loads a resource' + where);
  for (const canvas of inside().querySelectorAll('canvas[role=img]'))
    check((canvas.getAttribute('aria-label') ?? '').length > 10, 'a canvas has no label' + where);
  check(inside().querySelector('h1').textContent.length > 5, 'no headline');
}

/** Relative luminance of WCAG 2, and the contrast of text with the page. */
function contrast(element) {
  const luminance = (color) => color.match(/[\d.]+/g)
                                    .slice(0, 3)
                                    .map((c) => c / 255)
                                    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
                                    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const style = (e) => frame.contentWindow.getComputedStyle(e);
  const [a, b] =
      [luminance(style(element).color), luminance(style(inside().body).backgroundColor)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}

function checkContrast(name) {
  for (const what
           of ['h1', '.lede', '.quiet', '.says', '.readout', '.unit', 'a', 'button', '#links a', '.evidence', 'dt',
               'td'])
    for (const element of [...inside().querySelectorAll(what)].slice(0, 3))
      check(contrast(element) >= 4.5, `${what} has a contrast of ${contrast(element).toFixed(2)} in ${name}`);
}

async function checkPage({page, checks: wanted}) {
  faults = [];
  for (const width of [1200, 390]) {
    await open(page, width);
    checkEverywhere(page, width);
  }
  await open(page, 1200);
  const first = inside().documentElement.dataset.theme ?? 'system',
        background = () => frame.contentWindow.getComputedStyle(inside().body).backgroundColor;
  const before = background();
  checkContrast('the first theme');
  inside().getElementById('theme').click();
  await pause();
  check(background() !== before, 'the theme does not change from ' + first);
  checkContrast('the second theme');
  checkEverywhere(page, 1200);
  inside().getElementById('theme').click();
  for (const [panel, x, y, line, value, limit] of wanted.hover ?? []) {
    const lines = hover(panel, x, y), text = lines.find((l) => l.startsWith(line));
    check(
        text && Math.abs(numberIn(text.slice(line.length)) / value - 1) < limit,
        `${panel} at ${x}, ${y}: "${lines.join(' | ')}" is not ${line} ${value}`);
  }
  for (const [panel, x, y, part] of wanted.tells ?? []) {
    const lines = hover(panel, x, y);
    check(
        lines.some((l) => l.includes(part)), `${panel} at ${x}, ${y}: "${lines.join(' | ')}" does not tell of ${part}`);
  }
  for (const [panel, x, color, part] of wanted.colors ?? [])
    check(colorNear(panel, x, color, part), `${panel} has no ${color} at ${x}`);
  for (const [selector, part] of Object.entries(wanted.texts ?? {})) {
    const found = [...inside().querySelectorAll(selector)].map((e) => e.textContent);
    check(found.some((t) => t.includes(part)), `${selector} is "${found.join(' | ')}", not ${part}`);
  }
  for (const [selector, count] of Object.entries(wanted.counts ?? {}))
    check(
        inside().querySelectorAll(selector).length === count,
        `${inside().querySelectorAll(selector).length} of ${selector}, not ${count}`);
  if (wanted.step !== undefined) await checkCursor(wanted.step);
  check(frame.contentWindow.hacked === undefined, 'a name was run as a script');
  return {page, faults};
}

/** Links to a step, arrow keys, zoom and the way back. */
async function checkCursor(step) {
  const where = () => inside().getElementById('where').textContent;
  frame.contentWindow.location.hash = '#step=' + step;
  await pause();
  const there = where();
  check(there.includes(String(step)), `#step=${step} leads to ${there}`);
  inside().dispatchEvent(new frame.contentWindow.KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true}));
  check(where() !== there, 'the arrow key does not move the cursor');
  const canvas = inside().querySelector('#norm .plot canvas'), chart = frame.contentWindow.Chart.getChart(canvas),
        plot = canvas.parentElement;
  const all = [chart.scales.x.min, chart.scales.x.max], rect = plot.getBoundingClientRect();
  const drag = (type, x) => plot.dispatchEvent(new frame.contentWindow.PointerEvent(type, {
    bubbles: true,
    pointerType: 'mouse',
    button: 0,
    buttons: type === 'pointerup' ? 0 : 1,
    clientX: rect.left + x,
    clientY: rect.top + 60
  }));
  drag('pointerdown', chart.chartArea.left + 40);
  drag('pointermove', chart.chartArea.left + 140);
  drag('pointerup', chart.chartArea.left + 140);
  check(chart.scales.x.max - chart.scales.x.min < (all[1] - all[0]) / 2, 'dragging does not zoom');
  plot.dispatchEvent(new frame.contentWindow.MouseEvent('dblclick', {bubbles: true}));
  check(chart.scales.x.min === all[0] && chart.scales.x.max === all[1], 'a double click does not show all');
}

(async () => {
  const pages = [];
  try {
    for (const entry of await (await fetch('expected.json')).json()) pages.push(await checkPage(entry));
  } catch (error) {
    pages.push({page: frame.src, faults: ['the checks failed: ' + error.stack]});
  }
  document.getElementById('results').textContent = JSON.stringify({pages, checks});
})();
