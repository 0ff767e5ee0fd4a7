
// The axis of steps, with one cursor and one zoom for all charts.
const axis = {
  start: 0,
  width: 1,
  count: 1,
  first: [],
  last: [],
  logged: [],
  range: [0, 1],
  cursor: 0,
  listeners: new Set(),

  use(json) {
    Object.assign(this, json);
    this.full = [this.start - this.width / 2, this.start + (Math.max(1, this.count) - 0.5) * this.width];
    this.range = this.full;
    this.cursor = Math.max(0, this.count - 1);
  },
  x(bucket) { return this.start + bucket * this.width; },
  bucketAt(x) { return Math.min(this.count - 1, Math.max(0, Math.round((x - this.start) / this.width))); },
  bucketOfStep(step) {
    for (let b = 0; b < this.count; ++b)
      if (this.last[b] >= step) return b;
    return this.count - 1;
  },
  stepText(bucket) {
    const first = this.first[bucket], last = this.last[bucket];
    if (first === undefined || first < 0) return 'no step';
    return first === last ? `step ${groupDigits(first)}` : `steps ${groupDigits(first)}–${groupDigits(last)}`;
  },

  moveTo(bucket) {
    this.cursor = Math.min(this.count - 1, Math.max(0, bucket));
    document.getElementById('where').textContent = this.stepText(this.cursor);
    for (const listener of this.listeners) listener.cursorMoved();
  },
  zoom(range) {
    this.range = range && range[1] - range[0] >= this.width ? range : this.full;
    for (const listener of this.listeners) listener.zoomed();
  },
};

/**
 * Pointer and keys of a plot whose x axis is that of steps: hovering moves the cursor, a tap leaves it there, dragging
 * with a mouse zooms, a double click shows all again. `chart()` gives the Chart, `describe(bucket, y)` lines of text.
 */
function followPointer(plot, chart, describe) {
  const line = element('div', 'cursor'), box = element('div', 'selection');
  plot.append(line, box);
  let begin = null;
  const place = () => {
    const c = chart();
    if (!c) return;
    const x = c.scales.x.getPixelForValue(axis.x(axis.cursor)), area = c.chartArea;
    line.hidden = x < area.left - 1 || x > area.right + 1;
    line.style.cssText = `left:${x}px;top:${area.top}px;height:${area.bottom - area.top}px`;
  };
  const inside = (event) => {
    const rect = plot.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  const look = (event) => {
    const c = chart();
    if (!c) return;
    const [x, y] = inside(event), area = c.chartArea;
    if (x < area.left - 4 || x > area.right + 4 || y < area.top - 12 || y > area.bottom + 12) return tooltip.hide();
    axis.moveTo(axis.bucketAt(c.scales.x.getValueForPixel(x)));
    tooltip.show(describe(axis.cursor, c.scales.y.getValueForPixel(y)), event);
  };
  plot.addEventListener('pointermove', (event) => {
    if (begin !== null && event.buttons & 1) {
      const x = inside(event)[0];
      box.style.cssText = `display:block;left:${Math.min(begin, x)}px;width:${Math.abs(x - begin)}px`;
    } else look(event);
  });
  plot.addEventListener('pointerdown', (event) => {
    begin = event.pointerType === 'mouse' && event.button === 0 ? inside(event)[0] : null;
    look(event);
  });
  plot.addEventListener('pointerup', (event) => {
    const c = chart(), x = inside(event)[0];
    if (c && begin !== null && Math.abs(x - begin) > 8) {
      const ends = [begin, x].map((p) => c.scales.x.getValueForPixel(p)).sort((a, b) => a - b);
      axis.zoom([Math.max(axis.full[0], ends[0]), Math.min(axis.full[1], ends[1])]);
    }
    begin = null;
    box.style.display = 'none';
  });
  plot.addEventListener('pointerleave', () => {
    begin = null;
    box.style.display = 'none';
    tooltip.hide();
  });
  plot.addEventListener('dblclick', () => axis.zoom(null));
  return place;
}

function followKeys() {
  document.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey ||
        /^(INPUT|SELECT|SUMMARY)$/.test(event.target.tagName))
      return;
    event.preventDefault();
    tooltip.hide();
    axis.moveTo(axis.cursor + step);
  });
  const fromHash = () => {
    const found = /^#step=(\d+)$/.exec(location.hash);
    if (!found || axis.count === 0) return;
    axis.zoom(null);
    axis.moveTo(axis.bucketOfStep(Number(found[1])));
    document.querySelector('.bar').scrollIntoView();
  };
  addEventListener('hashchange', fromHash);
  fromHash();
}
