
// Charts of lines over steps (or lags, or depth): the median of each bucket, and a band from lowest to highest.

/** The frame of a chart: title, caption, readout, plot, unit, table. */
function makePanel(parent, spec) {
  const panel = {
    root: element('section', 'panel' + (spec.wide ? ' wide' : '')),
    says: element('p', 'says', spec.text),
    readout: element('div', 'readout'),
    plot: element('div', 'plot'),
    unit: element('p', 'unit', spec.unit ?? ''),
    table: element('div'),
  };
  panel.plot.style.height = (spec.height ?? 220) + 'px';
  const title = element('h2', '', spec.title);
  if (spec.id) panel.root.id = spec.id;
  panel.root.append(element('div', '', title, panel.says), panel.readout, panel.plot, panel.unit, panel.table);
  parent.append(panel.root);
  return panel;
}

/** A canvas with the role of an image; the readout is its text. */
function makeCanvas(plot, label) {
  const canvas = element('canvas');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', label);
  plot.prepend(canvas);
  return canvas;
}

/** Lower and upper end of a logarithmic axis: whole decades. */
function decades(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values)
    if (v > 0 && Number.isFinite(v)) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  if (low > high) return [0.1, 1];
  const from = Math.floor(Math.log10(low) + 1e-9), to = Math.ceil(Math.log10(high) - 1e-9);
  return [10 ** from, 10 ** Math.max(to, from + 1)];
}

/** A logarithmic axis with ticks at powers of ten, limited in number. */
function decadeScale(min, max, most) {
  const from = Math.round(Math.log10(min)), to = Math.round(Math.log10(max)), step = Math.ceil((to - from) / most);
  return {
    type: 'logarithmic',
    min,
    max,
    grid: {color: theme.color('grid'), drawBorder: false},
    afterBuildTicks(scale) {
      scale.ticks = [];
      for (let e = from; e <= to; e += step) scale.ticks.push({value: 10 ** e});
    },
    ticks: {
      autoSkip: false,
      color: theme.color('muted'),
      font: {size: 11},
      padding: 6,
      maxRotation: 0,
      callback: (v) => decadeText(v)
    }
  };
}

function isLog(spec, bands) {
  if (spec.scale === 'log') return true;
  const factor = {auto: 20, weights: 5}[spec.scale];
  if (!factor) return false;
  const finite = bands.middle.filter((v) => Number.isFinite(v));
  const low = Math.min(...finite), high = Math.max(...finite);
  return low > 0 && high / low > factor;
}

/** The end of an axis of shares. */
function niceShare(top) { return [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8].find((end) => top <= end * 0.96) ?? 1; }

function yScale(spec, bands, log) {
  const grid = {color: theme.color('grid'), drawBorder: false},
        ticks = {color: theme.color('muted'), font: {size: 11}, padding: 6};
  const values = [...bands.low, ...bands.high, ...(spec.points?.values ?? []).map((p) => p[1])];
  if (log) {
    const [min, max] = decades(values.concat(spec.guides.filter((g) => !g.limit).map((g) => g.at)));
    return decadeScale(min, max, 7);
  }
  if (spec.scale === 'share') {
    const finite = values.filter(Number.isFinite), top = Math.max(0.02, ...finite, ...spec.guides.map((g) => g.at));
    return {
      type: 'linear',
      min: 0,
      max: spec.bars ? 1 : Math.min(1, niceShare(top)),
      grid,
      ticks: {...ticks, maxTicksLimit: spec.bars ? 3 : 6, callback: (v) => percentText(v)}
    };
  }
  const zero = spec.scale === 'weights' ? {min: 0} : {};
  return {type: 'linear', ...zero, grid, ticks: {...ticks, maxTicksLimit: 6, callback: (v) => numberText(v)}};
}

function stepScale() {
  return {
    type: 'linear',
    min: axis.range[0],
    max: axis.range[1],
    grid: {display: false, drawBorder: false},
    ticks: {
      color: theme.color('muted'),
      font: {size: 11},
      maxTicksLimit: 7,
      maxRotation: 0,
      includeBounds: false,
      callback: (v) => Number.isInteger(v) ? groupDigits(v) : ''
    }
  };
}

/** A chart of Chart.js without its own tooltip, legend and animation. */
function plainChart(canvas, config) {
  return new Chart(canvas, {
    ...config,
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      events: [],
      ...config.options,
      plugins: {legend: {display: false}, tooltip: {enabled: false}, decimation: {enabled: false}}
    }
  });
}

class LinePlot {
  constructor(parent, spec) {
    this.spec = spec;
    this.bands = new Bands(spec.data);
    this.panel = makePanel(parent, spec);
    this.canvas = makeCanvas(this.panel.plot, spec.title);
    this.overSteps = !spec.places;
    if (this.overSteps) {
      this.place = followPointer(this.panel.plot, () => this.chart, (b, y) => this.describe(b, y));
      axis.listeners.add(this);
      valuesTable(this.panel.table, spec.names, this.bands);
    } else this.followPlaces();
    this.cursorMoved();
  }

  /** The highlighted line is drawn first, which puts it on top. */
  rows() {
    if (this.spec.shown) return this.spec.shown();
    const rows = this.spec.names.map((_, i) => i), focus = this.spec.focus?.();
    return focus === undefined ? rows : [focus, ...rows.filter((r) => r !== focus)];
  }

  color(row) {
    if (this.spec.focus) return theme.color(row === this.spec.focus() ? 'train' : 'quiet-line');
    if (this.spec.tone === 'runs') return runColor(this.spec.slot(row));
    return this.spec.names.length === 1 ? theme.color('train') : depthColor(row, this.spec.names.length);
  }
  dash(row) { return this.spec.tone === 'runs' ? RUN_DASHES[this.spec.slot(row) % 6] : []; }
  weight(row) {
    if (this.spec.flagged?.includes(row) || this.spec.focus?.() === row) return 2.5;
    return this.spec.names.length > 1 && this.spec.tone !== 'runs' ? 1.25 : 1.75;
  }
  x(bucket) { return this.overSteps ? axis.x(bucket) : this.spec.places[bucket]; }

  /** Buckets with a value. NaN or infinity breaks the line. */
  points(row, which, log) {
    const out = [];
    for (let b = 0; b < this.bands.buckets; ++b) {
      const v = this.bands.at(row, b, which);
      if (Number.isNaN(v)) continue;
      out.push({x: this.x(b), y: Number.isFinite(v) && (!log || v > 0) ? v : NaN});
    }
    return out;
  }

  datasets(log) {
    const sets = [], spec = this.spec;
    const band = this.bands.spread && (spec.names.length === 1 || spec.tone === 'runs');
    for (const row of this.rows()) {
      const color = this.color(row),
            line = {borderColor: color, borderDash: this.dash(row), borderWidth: this.weight(row)};
      const marks = spec.places && spec.places.length <= 40 && spec.tone === 'runs';
      sets.push({
        row,
        data: this.points(row, 'middle', log),
        ...line,
        backgroundColor: color,
        pointRadius: marks           ? 3 :
            this.bands.buckets === 1 ? 3 :
                                       0,
        pointStyle: marks ? RUN_POINTS[spec.slot(row) % 6] : 'circle',
        stepped: spec.bars ? 'middle' : false,
        fill: spec.bars ? 'origin' : false
      });
      if (spec.bars) sets.at(-1).backgroundColor = color + '33';
      if (!band) continue;
      const quiet = {borderWidth: 0, pointRadius: 0, backgroundColor: color + '2b'};
      sets.push(
          {data: this.points(row, 'high', log), ...quiet, fill: '+1'},
          {data: this.points(row, 'low', log), ...quiet, fill: false});
    }
    if (spec.points?.values.length) {
      const color = theme.color('validation');
      sets.unshift({
        data: spec.points.values.map(([x, y]) => ({x, y: Number(y)})),
        borderColor: color,
        backgroundColor: color,
        borderWidth: 1,
        pointRadius: spec.points.values.length > 60 ? 1.5 : 2.5
      });
    }
    return sets;
  }

  draw() {
    this.chart?.destroy();
    const {spec, bands} = this, log = isLog(spec, bands), names = spec.names.map(shortName);
    const plugins = [guidesPlugin(spec.guides)];
    if (this.overSteps) plugins.push(brokenPlugin(bands));
    if (spec.marks) plugins.push(spikesPlugin(page.spikes));
    const labeled = spec.names.length > 1 && !spec.focus;
    if (labeled) plugins.push(endLabelsPlugin(names, (row) => this.color(row)));
    const labels = labeled && this.panel.plot.clientWidth >= 420;
    const longest = labels ? Math.min(150, 18 + 6.3 * Math.max(...this.rows().map((r) => names[r].length), 0)) : 14;
    this.chart = plainChart(this.canvas, {
      type: 'line',
      data: {datasets: this.datasets(log)},
      plugins,
      options: {
        layout: {padding: {top: spec.marks ? 12 : 8, right: longest}},
        scales: {x: this.overSteps ? stepScale() : this.placesScale(), y: yScale(spec, bands, log)}
      }
    });
    this.place?.();
  }

  placesScale() {
    const {places, labels} = this.spec;
    return {
      ...stepScale(),
      min: Math.min(...places),
      max: Math.max(...places, Math.min(...places) + 1),
      ticks: {
        ...stepScale().ticks,
        callback: (v) => labels ? labels[v] ?? '' : groupDigits(v),
        stepSize: labels && labels.length <= 12 ? 1 : undefined,
        maxTicksLimit: labels ? 13 : 9
      }
    };
  }

  value(v) { return this.spec.scale === 'share' ? percentText(v) : numberText(v, 4); }

  /** "0.744 (0.439 to 1.2)", and the number of values that are not finite. */
  reading(row, bucket) {
    const {bands} = this, v = bands.at(row, bucket), low = bands.at(row, bucket, 'low'),
          high = bands.at(row, bucket, 'high');
    const broken = bands.brokenAt(row, bucket);
    const more = Number.isFinite(v) && low !== high ? ` (${this.value(low)} to ${this.value(high)})` : '';
    return this.value(v) + more + (broken && Number.isFinite(v) ? `, ${broken} not finite` : '');
  }

  describe(bucket, y) {
    const rows = this.rows(), lines = [this.overSteps ? axis.stepText(bucket) : this.placeText(bucket)];
    const known = rows.filter((r) => !Number.isNaN(this.bands.at(r, bucket)));
    known.sort((a, b) => this.bands.at(b, bucket) - this.bands.at(a, bucket));
    for (const row of known.slice(0, 14)) lines.push(`${this.spec.names[row]}: ${this.reading(row, bucket)}`);
    if (known.length === 0) lines.push('no value');
    if (this.overSteps)
      for (const [step, v] of this.spec.points?.values ?? [])
        if (axis.bucketAt(step) === bucket)
          lines.push(`validation at ${groupDigits(step)}: ${numberText(Number(v), 4)}`);
    if (this.spec.marks)
      for (const step of page.spikes)
        if (axis.bucketOfStep(step) === bucket) lines.push(`▼ spike at step ${groupDigits(step)}`);
    return lines;
  }

  placeText(i) { return this.spec.labels?.[i] ?? `lag ${this.spec.places[i]}`; }

  /** Hovering in charts whose axis is not steps. */
  followPlaces() {
    const plot = this.panel.plot;
    const look = (event) => {
      if (!this.chart) return;
      const x = this.chart.scales.x.getValueForPixel(event.clientX - plot.getBoundingClientRect().left);
      const distance = (i) => Math.abs(this.spec.places[i] - x);
      tooltip.show(
          this.describe(this.spec.places.map((_, i) => i).reduce((a, b) => distance(b) < distance(a) ? b : a, 0)),
          event);
    };
    plot.addEventListener('pointermove', look);
    plot.addEventListener('pointerdown', look);
    plot.addEventListener('pointerleave', () => tooltip.hide());
  }

  cursorMoved() {
    const {spec, bands} = this, items = [];
    const at = this.overSteps ? axis.cursor : bands.buckets - 1;
    const rows = spec.focus ? [spec.focus()] : this.rows();
    for (const row of rows.length > 12 ?
             rows.filter((r) => spec.flagged?.includes(r)).concat(rows.slice(-6)).slice(0, 12) :
             rows) {
      const b = this.overSteps ? bands.nearest(row, at) : at;
      const label = [legendLine(this.color(row), this.dash(row), this.weight(row)), shortName(spec.names[row]) + ' '];
      const value = this.overSteps ? spec.names.length === 1 ? this.reading(row, b) : this.value(bands.at(row, b)) : '';
      items.push(element('span', '', ...label, element('b', '', value)));
    }
    if (spec.points?.values.length) {
      const upTo =
          spec.points.values.filter(([step]) => step <= axis.x(at) + axis.width / 2).at(-1) ?? spec.points.values[0];
      items.push(element(
          'span', '', legendDot(theme.color('validation')), 'validation ',
          element('b', '', numberText(Number(upTo[1]), 4)), ` at ${groupDigits(upTo[0])}`));
    }
    this.panel.readout.replaceChildren(...items);
    this.canvas.setAttribute('aria-label', `${spec.title}: ${this.panel.readout.textContent}. ${spec.text}`);
    this.place?.();
  }

  zoomed() {
    if (!this.chart) return;
    [this.chart.options.scales.x.min, this.chart.options.scales.x.max] = axis.range;
    this.chart.update('none');
    this.place();
  }
}

function svgElement(tag, attributes) {
  const out = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  return out;
}

function legendLine(color, dash = [], weight = 2) {
  const out = svgElement('svg', {viewBox: '0 0 18 8', 'aria-hidden': 'true', class: 'line'});
  out.append(svgElement(
      'path', {d: 'M0 4h18', stroke: color, 'stroke-width': weight + 0.5, 'stroke-dasharray': dash.join(' ')}));
  return out;
}

function legendDot(color) {
  const out = svgElement('svg', {viewBox: '0 0 18 8', 'aria-hidden': 'true'});
  out.append(svgElement('circle', {cx: 12, cy: 4, r: 3.5, fill: color}));
  return out;
}
