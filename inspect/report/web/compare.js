
// The comparison: curves of up to six groups of runs, chosen in the table.
const MOST_CURVES = 6;

/** The selected groups. Each keeps its color. */
const curves = {
  slots: new Map(),
  rows() { return [...this.slots.keys()].sort((a, b) => a - b); },
  slot(row) { return this.slots.get(row) ?? 0; },
  toggle(row) {
    if (this.slots.delete(row)) return true;
    if (this.slots.size >= MOST_CURVES) return false;
    const taken = new Set(this.slots.values());
    this.slots.set(row, [0, 1, 2, 3, 4, 5].find((slot) => !taken.has(slot)));
    return true;
  },
};

/** Check boxes in the table, with the line style of each group. */
function showBoxes() {
  for (const box of document.querySelectorAll('input[data-group]')) {
    const row = Number(box.dataset.group), label = box.parentElement;
    label.querySelector('svg')?.remove();
    if (row >= curves.count) continue;
    box.hidden = false;
    box.checked = curves.slots.has(row);
    box.disabled = !box.checked && curves.slots.size >= MOST_CURVES;
    const slot = curves.slot(row);
    if (box.checked) box.after(legendLine(runColor(slot), RUN_DASHES[slot], 2));
  }
}

function showCompare(data) {
  axis.use(data.axis);
  page.spikes = [];
  curves.count = data.groups.length;
  for (let row = 0; row < Math.min(MOST_CURVES, curves.count); ++row) curves.toggle(row);
  addLink('summary', 'Summary');
  showSections(data.sections.map(
      (section) => ({
        ...section,
        parts: section.parts.map((part) => ({...part, shown: () => curves.rows(), slot: (row) => curves.slot(row)}))
      })));
  addLink('differences', 'Differences');
  for (const box of document.querySelectorAll('input[data-group]'))
    box.addEventListener('change', () => {
      curves.toggle(Number(box.dataset.group));
      drawing.again();
    });
  drawing.before = showBoxes;
  showBoxes();
  showBuckets('the line is the median of the seeds');
}
