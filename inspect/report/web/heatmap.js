
// Heat maps: an off-screen image with one pixel for each cell, stretched over the plot of an empty chart.

/** Color range: the 1st to the 99th percentile, rounded outward to 1, 3 or 10, at least two decades. */
function colorRange(values) {
  const logs = Array.from(values).filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10).sort((a, b) => a - b);
  if (logs.length === 0) return [-2, 0];
  const at = (share) => logs[Math.round(share * (logs.length - 1))];
  const marks = (x) => [0, Math.log10(3), 1].map((part) => Math.floor(x) + part);  // 1, 3 and 10 around it
  const high = marks(at(0.99)).find((m) => m >= at(0.99) - 1e-9);
  const low = Math.min(high - 2, marks(at(0.01)).findLast((m) => m <= at(0.01) + 1e-9));
  return [low, high];
}

/** The image of some rows, from top to bottom. */
function paintCells(bands, which, rows, [low, high]) {
  const picture = document.createElement('canvas');
  picture.width = bands.buckets;
  picture.height = rows.length;
  const pen = picture.getContext('2d'), image = pen.createImageData(picture.width, picture.height);
  const zero = viridis(0);
  rows.forEach((row, line) => {
    for (let b = 0; b < bands.buckets; ++b) {
      const v = bands.at(row, b, which), at = 4 * (line * bands.buckets + b);
      if (Number.isNaN(v)) continue;
      const color = v > 0 ? viridis((Math.log10(v) - low) / (high - low)) : zero;
      image.data.set([...color, 255], at);
    }
  });
  pen.putImageData(image, 0, 0);
  return picture;
}

/** Draws rows (top to bottom) of bands; `gaps` are the rows with 2 px of space before them. */
function cellsPlugin(plot) {
  return {
    id: 'cells',
    beforeDatasetsDraw(chart) {
      const {bands, order, gaps, range, which} = plot.drawing(), pen = chart.ctx,
                                        {left, right, top, bottom} = chart.chartArea;
      const x = chart.scales.x, height = (bottom - top) / order.length;
      const from = x.getPixelForValue(axis.x(0) - axis.width / 2),
            to = x.getPixelForValue(axis.x(bands.buckets - 1) + axis.width / 2);
      const picture = paintCells(bands, which, order, range);
      pen.save();
      pen.beginPath();
      pen.rect(left, top, right - left, bottom - top);
      pen.clip();
      pen.fillStyle = theme.color('empty');
      pen.fillRect(left, top, right - left, bottom - top);
      pen.imageSmoothingEnabled = false;
      pen.drawImage(picture, from, top, to - from, bottom - top);
      pen.fillStyle = hatch(pen);
      order.forEach((row, line) => {
        for (let b = 0; b < bands.buckets; ++b)
          if (bands.brokenAt(row, b) > 0)
            pen.fillRect(
                x.getPixelForValue(axis.x(b) - axis.width / 2), top + line * height,
                Math.max(1.5, (to - from) / bands.buckets), height);
      });
      pen.fillStyle = theme.color('page');
      for (const line of gaps) pen.fillRect(left, top + line * height - 1, right - left, 2);
      pen.restore();
    },
  };
}

/** A color bar with its values. */
function colorBar([low, high]) {
  const stops = Array.from({length: 16}, (_, i) => rgb(viridis(i / 15)));
  const bar = element('div'), labels = element('p');
  bar.style.background = `linear-gradient(to right, ${stops.join(',')})`;
  const step = Math.ceil((high - low) / 6);
  for (let e = Math.ceil(low - 1e-9); e <= high + 1e-9; e += step) {
    const label = element('span', '', decadeText(10 ** e));
    label.style.left = 100 * (e - low) / (high - low) + '%';
    labels.append(label);
  }
  return element('div', 'colors', bar, labels);
}

/** A group of buttons, one of them pressed. */
function choice(names, chosen, choose) {
  const box = element('div', 'choice'), buttons = names.map((name, i) => {
    const button = element('button', '', name);
    button.type = 'button';
    button.addEventListener('click', () => press(i, true));
    return button;
  });
  const press = (i, tell) => {
    buttons.forEach((b, j) => b.setAttribute('aria-pressed', String(i === j)));
    if (tell) choose(i);
  };
  press(chosen, false);
  box.append(...buttons);
  return box;
}

/** Base of the heat maps of layers and of lags. `maps` are choices (weights or outputs; recurrent layers). */
class HeatPlot {
  constructor(parent, maps, options) {
    this.maps = maps.map((m) => ({...m, bands: new Bands(m.data)}));
    this.chosen = 0;
    this.which = 'middle';
    this.panel = makePanel(parent, {title: options.title, text: maps[0].text, wide: true, id: options.id});
    const {panel} = this;
    this.beside = element('div', 'plot');
    this.body = element('div', 'beside ' + (options.even ? 'even' : ''));
    panel.plot.replaceWith(this.body);
    this.body.append(panel.plot, this.beside);
    this.canvas = makeCanvas(panel.plot, options.title);
    this.sideCanvas = makeCanvas(this.beside, options.side);
    this.beside.style.cursor = 'default';
    this.scale = element('div', 'scale');
    panel.unit.replaceWith(this.scale);
    this.place = followPointer(panel.plot, () => this.chart, (b, y) => this.describe(b, y));
    axis.listeners.add(this);
  }

  get map() { return this.maps[this.chosen]; }

  /** Below the plot: color bar, caption, choices. */
  showScale(unit) {
    const choices = element('div', 'choice');
    if (this.maps.length > 1)
      choices.append(choice(this.maps.map((m) => shortName(m.name)), this.chosen, (i) => {
        this.chosen = i;
        this.draw();
      }));
    if (this.map.bands.spread)
      choices.append(choice(['Median', 'Max'], this.which === 'middle' ? 0 : 1, (i) => {
        this.which = ['middle', 'high'][i];
        this.draw();
      }));
    this.scale.replaceChildren(colorBar(this.range), element('p', 'unit', unit), choices);
  }

  drawHeat(yTicks, plugins, padding = 0) {
    this.chart?.destroy();
    const count = this.drawing().order.length;
    this.chart = plainChart(this.canvas, {
      type: 'scatter',
      data: {datasets: [{data: []}]},
      plugins: [cellsPlugin(this), ...plugins],
      options: {
        layout: {padding: {top: 12, right: padding}},
        scales: {
          x: stepScale(),
          y: {type: 'linear', reverse: true, min: 0, max: count, grid: {display: false, drawBorder: false}, ...yTicks}
        }
      }
    });
    this.place();
  }

  zoomed() {
    if (!this.chart) return;
    [this.chart.options.scales.x.min, this.chart.options.scales.x.max] = axis.range;
    this.chart.update('none');
    this.place();
  }
}

/** Layer x step: the output on top. */
class LayerPlot extends HeatPlot {
  constructor(parent, spec) {
    super(parent, spec.maps, {title: 'Gradient norm by layer', side: 'Norm of each layer at the cursor', id: 'layers'});
    valuesTable(this.panel.table, this.maps[0].rows, this.maps[0].bands);
    this.cursorMoved();
  }

  drawing() {
    const rows = this.map.rows.length;
    return {
      bands: this.map.bands,
      which: this.which,
      range: this.range,
      order: Array.from({length: rows}, (_, i) => rows - 1 - i),
      gaps: this.map.cuts.map((c) => rows - c)
    };
  }

  draw() {
    const {rows, bands} = this.map, count = rows.length;
    this.range = colorRange(bands[this.which]);
    const height = Math.min(900, Math.max(90, count * (count > 40 ? 10 : 15)) + 42);
    this.panel.plot.style.height = this.beside.style.height = height + 'px';
    this.panel.says.textContent = this.map.text;
    const narrow = this.panel.plot.clientWidth < 460, names = rows.map(shortName),
          every = Math.ceil(count / ((height - 42) / 11));
    const limit = narrow ? 15 : 26;
    const labels = {
      afterBuildTicks: (scale) => {
        scale.ticks = names.map((_, i) => ({value: count - i - 0.5})).filter((_, i) => i % every === 0);
      },
      ticks: {
        autoSkip: false,
        color: theme.color('muted'),
        font: {size: 11},
        padding: 4,
        callback: (v) => {
          const name = names[Math.round(count - v - 0.5)];
          return name.length > limit ? name.slice(0, limit / 2 - 1) + '…' + name.slice(-limit / 2) : name;
        }
      }
    };
    this.drawHeat(labels, [spikesPlugin(page.spikes)]);
    this.showScale(
        'Gradient norm, ' + (this.which === 'middle' ? 'median' : 'greatest') +
        ' of each bucket, log scale. ▼ spike. A column is one moment; a row that stays dark gets little gradient.');
    this.drawSide();
    this.cursorMoved();
  }

  /** Norms at the cursor; dashed: the median of the last tenth. */
  drawSide() {
    this.side?.destroy();
    const {rows, bands} = this.map, count = rows.length, tenth = Math.max(1, Math.floor(bands.buckets / 10));
    const late = rows.map(
        (_, r) => medianOf(Array.from({length: tenth}, (_, i) => bands.at(r, bands.buckets - 1 - i, this.which))));
    const points = (values) => values.map((v, r) => ({x: v > 0 && Number.isFinite(v) ? v : NaN, y: count - r - 0.5}));
    this.sidePoints = points;
    const [min, max] = decades([10 ** this.range[0], 10 ** this.range[1]]);
    const color = theme.color('train'), muted = theme.color('muted');
    this.side = plainChart(this.sideCanvas, {
      type: 'line',
      data: {
        datasets: [
          {data: [], borderColor: color, backgroundColor: color, borderWidth: 1.5, pointRadius: count > 40 ? 0 : 2.5},
          {data: points(late), borderColor: muted, borderWidth: 1, borderDash: [3, 3], pointRadius: 0}
        ]
      },
      options: {
        indexAxis: 'y',
        layout: {padding: {top: 12, left: 8, right: 14}},
        scales: {x: decadeScale(min, max, 3), y: {type: 'linear', reverse: true, min: 0, max: count, display: false}}
      }
    });
  }

  describe(bucket, y) {
    const {rows, bands} = this.map, row = rows.length - 1 - Math.floor(y);
    if (!(row >= 0 && row < rows.length)) return [];
    const v = bands.at(row, bucket), low = bands.at(row, bucket, 'low'), high = bands.at(row, bucket, 'high'),
          broken = bands.brokenAt(row, bucket);
    const lines = [rows[row], axis.stepText(bucket), 'norm ' + numberText(v)];
    if (Number.isFinite(v) && low !== high) lines.push(`min ${numberText(low)}, max ${numberText(high)}`);
    if (broken) lines.push(`${broken} not finite`);
    return lines;
  }

  cursorMoved() {
    const {rows, bands} = this.map, b = bands.nearest(0, axis.cursor), top = bands.at(rows.length - 1, b),
                 bottom = bands.at(0, b);
    const item = (name, value) => element('span', '', name + ' ', element('b', '', value));
    this.panel.readout.replaceChildren(
        item('top', numberText(top)), item('bottom', numberText(bottom)),
        item('bottom ÷ top', numberText(bottom / top, 2)),
        element('span', '', 'right: at the cursor; dashed: the last tenth'));
    this.canvas.setAttribute(
        'aria-label', 'Gradient norm by layer. ' + this.panel.readout.textContent + '. ' + this.map.text);
    this.place();
    if (!this.side) return;
    this.side.data.datasets[0].data = this.sidePoints(rows.map((_, r) => bands.at(r, b, this.which)));
    this.side.update('none');
  }
}
