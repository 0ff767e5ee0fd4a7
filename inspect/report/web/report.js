
// The report of one run.
const page = {
  spikes: []
};

/** Draws charts when they come close to the viewport, and again when the theme changes. */
const drawing = {
  plots: [],
  add(plot, root) { this.plots.push({plot, root, drawn: false}); },
  start() {
    const draw = (entry) => {
      entry.drawn = true;
      entry.plot.draw();
    };
    const observer = new IntersectionObserver((seen) => {
      for (const {isIntersecting, target} of seen) {
        const entry = this.plots.find((p) => p.root === target);
        if (isIntersecting && !entry.drawn) draw(entry);
      }
    }, {rootMargin: '400px'});
    for (const entry of this.plots) observer.observe(entry.root);
  },
  before() {},
  again() {
    this.before();
    for (const {plot, drawn} of this.plots)
      if (drawn) {
        plot.cursorMoved?.();
        plot.draw();
      }
  },
  all() {
    for (const entry of this.plots)
      if (!entry.drawn) {
        entry.drawn = true;
        entry.plot.draw();
      }
  },
};

function addLink(id, name) {
  const link = element('a', '', name);
  link.href = '#' + id;
  document.getElementById('links').append(link);
}

function addPart(parent, part) {
  let plot;
  if (part.kind === 'layers') plot = new LayerPlot(parent, part);
  else if (part.kind === 'lags') plot = new LagPlot(parent, part);
  else if (part.kind === 'attention') plot = new AttentionPlot(parent, part);
  else plot = new LinePlot(parent, part);
  drawing.add(plot, plot.root ?? plot.panel.root);
}

function showSections(sections) {
  for (const {name, parts} of sections) {
    const id = name.toLowerCase().replace(/\W+/g, '-'), group = element('div', 'pair');
    group.id = id + '-charts';
    document.getElementById('charts').append(group);
    for (const part of parts) addPart(group, part.scale && parts.length === 1 ? {...part, wide: true} : part);
    addLink(group.id, name);
  }
}

function showBuckets(line) {
  const {count, width} = axis;
  if (count === 0) return;
  axis.moveTo(count - 1);
  document.getElementById('buckets').textContent =
      `Each chart over steps has ${count} ${count === 1 ? 'bucket' : 'buckets'} of ` +
      `${groupDigits(width)} ${width === 1 ? 'step' : 'steps'}; ${line}.`;
}

function showReport(data) {
  axis.use(data.axis);
  page.spikes = data.spikes;
  showSections(data.sections ?? []);
  if (document.getElementById('configuration')) addLink('configuration', 'Configuration');
  showBuckets(
      'the line is the median of the logged steps, the band runs from the least to the greatest, so no spike is dropped');
}
