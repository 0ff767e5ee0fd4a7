
// Lag x step: the gradient of the last time step's loss, backward through a recurrent layer. Lag 0 is on top.
const LEFT_OVER = 0.01;  // of lag 0

class LagPlot extends HeatPlot {
  constructor(parent, spec) {
    super(
        parent, spec.maps,
        {title: 'Gradient through time', side: 'Norm by lag at four moments', even: true, id: 'lags'});
    this.panel.plot.style.height = this.beside.style.height = '340px';
    valuesTable(this.panel.table, this.maps[0].first.map((lag) => 'lag ' + lag), this.maps[0].bands);
    this.cursorMoved();
  }

  drawing() {
    return {
      bands: this.map.bands,
      which: this.which,
      range: this.range,
      order: this.map.first.map((_, i) => i),
      gaps: []
    };
  }

  /** The first row at which less than 1 % of lag 0 is left, or none. */
  edge(bucket) {
    const {bands} = this.map, start = bands.at(0, bucket);
    if (!(start > 0)) return null;
    for (let r = 1; r < bands.rows; ++r)
      if (bands.at(r, bucket) < LEFT_OVER * start) return r;
    return null;
  }

  contour() {
    return {
      id: 'contour',
      afterDatasetsDraw: (chart) => {
        const pen = chart.ctx, {left, right, top, bottom} = chart.chartArea,
              height = (bottom - top) / this.map.bands.rows;
        for (const [color, width] of [['rgba(0,0,0,0.45)', 3.5], ['#fff', 1.6]]) {
          pen.save();
          pen.beginPath();
          pen.rect(left, top, right - left, bottom - top);
          pen.clip();
          pen.strokeStyle = color;
          pen.lineWidth = width;
          pen.lineJoin = 'round';
          pen.beginPath();
          let joined = false;
          for (let b = 0; b < this.map.bands.buckets; ++b) {
            if (Number.isNaN(this.map.bands.at(0, b))) continue;
            const row = this.edge(b);
            if (row === null) {
              joined = false;
              continue;
            }
            const x = chart.scales.x.getPixelForValue(axis.x(b)), y = top + row * height;
            if (joined) pen.lineTo(x, y);
            else pen.moveTo(x, y);
            joined = true;
          }
          pen.stroke();
          pen.restore();
        }
        const last = this.edge(this.map.bands.nearest(0, this.map.bands.buckets - 1));
        if (last === null || last * height > bottom - top - 18) return;
        pen.save();
        pen.font = chartFont(11);
        pen.textAlign = 'right';
        pen.lineWidth = 3;
        pen.strokeStyle = 'rgba(0,0,0,0.55)';
        pen.fillStyle = '#fff';
        const text = 'under 1' + FIXED + '% of lag 0 below this line', y = top + last * height + 16;
        pen.strokeText(text, right - 6, y);
        pen.fillText(text, right - 6, y);
        pen.restore();
      }
    };
  }

  draw() {
    const {bands, first} = this.map;
    this.range = colorRange(bands[this.which]);
    this.panel.says.textContent = this.map.text;
    const every = Math.max(1, 2 ** Math.ceil(Math.log2(first.length / 9)));
    this.drawHeat(
        {
          afterBuildTicks: (scale) => {
            scale.ticks = first.map((_, i) => ({value: i + 0.5})).filter((_, i) => i % every === 0);
          },
          ticks: {
            autoSkip: false,
            color: theme.color('muted'),
            font: {size: 11},
            padding: 4,
            callback: (v) => 'lag ' + first[Math.round(v - 0.5)]
          }
        },
        [this.contour()]);
    this.showScale(
        'Norm of the gradient by lag, log scale. Bright only along the top: the network learns from the last inputs and is blind to the rest.');
    this.drawSide();
    this.cursorMoved();
  }

  drawSide() {
    this.side?.destroy();
    const {bands, first} = this.map, n = bands.buckets,
                  known = Array.from({length: n}, (_, b) => b).filter((b) => !Number.isNaN(bands.at(0, b)));
    const chosen = [...new Set([0, 0.1, 0.35, 1].map((share) => known[Math.round(share * (known.length - 1))]))];
    const values = (b) => first.map(
        (lag, r) => ({x: lag, y: bands.at(r, b) > 0 && Number.isFinite(bands.at(r, b)) ? bands.at(r, b) : NaN}));
    const sets = chosen.map((b, i) => ({
                              data: values(b),
                              borderColor: depthColor(i, chosen.length),
                              borderWidth: 1.75,
                              pointRadius: first.length === 1 ? 3 : 0,
                              row: i
                            }));
    const all = sets.flatMap((s) => s.data.map((p) => p.y)), [min, max] = decades(all);
    this.moments = chosen;
    this.side = plainChart(this.sideCanvas, {
      type: 'line',
      data: {datasets: sets},
      plugins: [endLabelsPlugin(
          chosen.map((b) => axis.stepText(b).replace(/^steps? /, '').replace(/–.*/, '')),
          (i) => depthColor(i, chosen.length), 0)],
      options: {
        layout: {padding: {top: 12, right: 52}},
        scales: {x: {...stepScale(), min: 0, max: Math.max(1, this.map.last.at(-1))}, y: decadeScale(min, max, 7)}
      }
    });
  }

  lagText(row) {
    const {first, last} = this.map;
    return first[row] === last[row] ? `lag ${first[row]}` : `lags ${first[row]}–${last[row]}`;
  }

  describe(bucket, y) {
    const row = Math.floor(y), {bands} = this.map;
    if (!(row >= 0 && row < bands.rows)) return [];
    const v = bands.at(row, bucket), broken = bands.brokenAt(row, bucket);
    const lines = [
      `${this.lagText(row)}, ${axis.stepText(bucket)}`, 'norm ' + numberText(v),
      percentText(v / bands.at(0, bucket)) + ' of lag 0'
    ];
    if (broken) lines.push(`${broken} not finite`);
    return lines;
  }

  cursorMoved() {
    const {bands, last} = this.map, b = bands.nearest(0, axis.cursor), edge = this.edge(b);
    const item = (name, value) => element('span', '', name + ' ', element('b', '', value));
    this.panel.readout.replaceChildren(
        item('lag 0', numberText(bands.at(0, b))), item('lag ' + last.at(-1), numberText(bands.at(bands.rows - 1, b))),
        item('below 1' + FIXED + '% of lag 0', edge === null ? 'nowhere' : 'from lag ' + this.map.first[edge]),
        element('span', '', 'right: by lag at four steps'));
    this.canvas.setAttribute(
        'aria-label', 'Gradient through time. ' + this.panel.readout.textContent + '. ' + this.map.text);
    this.place();
  }
}
