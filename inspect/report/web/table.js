
// The values of a chart as a table, built when it is opened.
function valuesTable(parent, names, bands) {
  const details = element('details', '', element('summary', '', 'Table of values'));
  parent.append(details);
  details.addEventListener('toggle', () => {
    if (!details.open || details.children.length > 1) return;
    const head = element('tr', '', element('th', '', 'steps'), ...names.map((n) => element('th', '', n)));
    const body = element('tbody');
    for (let b = 0; b < bands.buckets; ++b) {
      const cells = names.map((_, row) => {
        const low = bands.at(row, b, 'low'), high = bands.at(row, b, 'high');
        return element(
            'td', '',
            numberText(bands.at(row, b), 4) +
                (low !== high && Number.isFinite(low) ? ` (${numberText(low, 4)} to ${numberText(high, 4)})` : ''));
      });
      body.append(element('tr', '', element('td', '', axis.stepText(b).replace(/^steps? /, '')), ...cells));
    }
    details.append(element('div', 'values', element('table', '', element('thead', '', head), body)));
  });
}
