
// Marks over the lines of a chart, as plugins of Chart.js.

/** Dashed lines at values, with their text. */
function guidesPlugin(guides) {
  return {
    id: 'guides',
    afterDatasetsDraw(chart) {
      const pen = chart.ctx, {left, right, top, bottom} = chart.chartArea;
      for (const guide of guides) {
        const y = chart.scales.y.getPixelForValue(guide.at);
        if (!(y >= top - 1 && y <= bottom + 1)) continue;
        pen.save();
        pen.strokeStyle = pen.fillStyle = theme.color(guide.limit ? 'warn' : 'muted');
        pen.setLineDash([4, 3]);
        pen.beginPath();
        pen.moveTo(left, y);
        pen.lineTo(right, y);
        pen.stroke();
        pen.font = chartFont(11);
        pen.textAlign = 'right';
        const above = y - top > 16;
        pen.lineWidth = 4;
        pen.setLineDash([]);
        pen.strokeStyle = theme.color('page');
        pen.strokeText(guide.text, right - 4, above ? y - 5 : y + 13);
        pen.fillText(guide.text, right - 4, above ? y - 5 : y + 13);
        pen.restore();
      }
    },
  };
}

/** ▼ above the steps of spikes. */
function spikesPlugin(steps) {
  return {
    id: 'spikes',
    afterDraw(chart) {
      const pen = chart.ctx, {left, right, top} = chart.chartArea;
      pen.save();
      pen.fillStyle = theme.color('validation');
      for (const step of steps) {
        const x = chart.scales.x.getPixelForValue(step);
        if (x < left || x > right) continue;
        pen.beginPath();
        pen.moveTo(x - 5, top - 9);
        pen.lineTo(x + 5, top - 9);
        pen.lineTo(x, top - 1);
        pen.fill();
      }
      pen.restore();
    },
  };
}

/** A red hatched strip where a bucket has NaN or infinity. */
function brokenPlugin(bands) {
  return {
    id: 'broken',
    beforeDatasetsDraw(chart) {
      const pen = chart.ctx, {left, right, bottom} = chart.chartArea;
      pen.save();
      pen.fillStyle = hatch(pen);
      for (let b = 0; b < bands.buckets; ++b) {
        let any = false;
        for (let r = 0; r < bands.rows; ++r) any = any || bands.brokenAt(r, b) > 0;
        if (!any) continue;
        const from = Math.max(left, chart.scales.x.getPixelForValue(axis.x(b) - axis.width / 2));
        const to = Math.min(right, chart.scales.x.getPixelForValue(axis.x(b) + axis.width / 2));
        if (to > from) pen.fillRect(from, bottom - 8, Math.max(2, to - from), 8);
      }
      pen.restore();
    },
  };
}

/** Names at the right ends of the lines, moved apart to avoid overlaps. */
function endLabelsPlugin(names, colorOf, narrowest = 420) {
  return {
    id: 'ends',
    afterDraw(chart) {
      if (chart.width < narrowest) return;
      const {right, top, bottom} = chart.chartArea, labels = [];
      chart.data.datasets.forEach((set, i) => {
        if (set.row === undefined) return;
        const last = set.data.filter((p) => Number.isFinite(p.y) && p.x <= chart.scales.x.max).at(-1);
        if (last)
          labels.push({name: names[set.row], color: colorOf(set.row), y: chart.scales.y.getPixelForValue(last.y)});
      });
      labels.sort((a, b) => a.y - b.y);
      const height = Math.min(13, (bottom - top + 12) / Math.max(1, labels.length));
      labels.forEach((l, i) => {
        l.y = Math.max(l.y, i > 0 ? labels[i - 1].y + height : top);
      });
      for (let i = labels.length - 1, floor = bottom + 6; i >= 0; --i, floor -= height)
        labels[i].y = Math.min(labels[i].y, floor);
      const pen = chart.ctx;
      pen.save();
      pen.font = chartFont(11);
      pen.textBaseline = 'middle';
      if (height >= 9)
        for (const label of labels) {
          pen.fillStyle = label.color;
          pen.fillRect(right + 5, label.y - 1, 7, 2);
          pen.fillStyle = theme.color('muted');
          pen.fillText(shortened(pen, label.name, chart.width - right - 16), right + 16, label.y);
        }
      pen.restore();
    },
  };
}

/** The text, shortened with an ellipsis to a width in pixels. */
function shortened(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let kept = text.length;
  while (kept > 0 && pen.measureText(`${text.slice(0, kept)}…`).width > width) --kept;
  return `${text.slice(0, kept).trimEnd()}…`;
}

function chartFont(size) { return `${size}px ${getComputedStyle(document.body).fontFamily}`; }
