
// Colors of the active theme and of values.
const theme = {
  dark: () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' :
                                                       matchMedia('(prefers-color-scheme: dark)').matches,
  color: (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim(),
};

// Every 16th color of viridis (van der Walt and Smith 2015).
const VIRIDIS = [
  '440154', '481a6c', '472f7d', '414487', '39568c', '31688e', '2a788e', '23888e', '1f988b', '22a884', '35b779',
  '54c568', '7ad151', 'a5db36', 'd2e21b', 'fde725'
].map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));

/** [r, g, b] of a share from 0 to 1. */
function viridis(share) {
  const place = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1);
  const low = Math.floor(place), high = Math.min(VIRIDIS.length - 1, low + 1), part = place - low;
  return VIRIDIS[low].map((c, i) => Math.round(c + (VIRIDIS[high][i] - c) * part));
}

function rgb(color, alpha = 1) { return `rgba(${color.join(',')},${alpha})`; }

/** Colors of the lines of layers, from input to output. */
function depthColor(i, n) {
  const share = n > 1 ? i / (n - 1) : 0.4;
  return rgb(viridis(theme.dark() ? 0.3 + 0.66 * share : 0.78 * share));
}

const RUN_DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [12, 4], [4, 2, 1, 2]];
const RUN_POINTS = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot'];

function runColor(i) { return theme.color('run' + (i % 6)); }

/** A hatch that marks NaN and infinity. */
function hatch(context) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const pen = tile.getContext('2d');
  pen.fillStyle = '#d0021b';
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = '#fff';
  pen.beginPath();
  pen.moveTo(-1, 7);
  pen.lineTo(7, -1);
  pen.stroke();
  return context.createPattern(tile, 'repeat');
}
