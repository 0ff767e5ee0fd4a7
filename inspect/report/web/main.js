
// Starts the page.
(function main() {
  const data = JSON.parse(document.getElementById('data').textContent);
  document.querySelector('.bar').hidden = false;
  document.querySelector('noscript')?.remove();
  if (data.kind === 'compare') showCompare(data);
  else showReport(data);
  drawing.start();
  if (axis.count > 0) followKeys();
  document.getElementById('theme').addEventListener('click', () => {
    document.documentElement.dataset.theme = theme.dark() ? 'light' : 'dark';
    drawing.again();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawing.again());
  let before;
  addEventListener('beforeprint', () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = 'light';
    drawing.again();
    drawing.all();
  });
  addEventListener('afterprint', () => {
    if (before) document.documentElement.dataset.theme = before;
    else delete document.documentElement.dataset.theme;
    drawing.again();
  });
})();
