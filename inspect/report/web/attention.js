
// Attention: every head of every layer on one sentence, one of them enlarged, and the entropy of all heads by step.
class AttentionPlot {
  constructor(parent, spec) {
    this.spec = spec;
    this.root = element('section', 'panel wide');
    this.root.id = 'attention-maps';
    this.says = element('p', 'says', spec.text);
    parent.append(this.root);
    this.root.style.display = 'block';
    this.root.append(
        element('h2', '', 'Attention'), this.says,
        ...spec.warnings.map((w) => element('p', 'quiet', 'Note: ' + w + '.')));
    this.step = (spec.steps?.length ?? 0) - 1;
    const last = spec.steps?.at(-1).entropy ?? [0];
    this.head = last.indexOf(Math.min(...last));  // the head with the lowest entropy
    if (spec.steps) this.build();
    if (spec.names.length > 0) {
      this.entropyBox = element('div', 'pair');
      const holder = spec.steps ? this.large : this.root;
      holder.append(this.entropyBox);
      this.entropyBox.style.display = 'block';
      this.entropy = new LinePlot(this.entropyBox, {
        id: 'entropy',
        title: 'Entropy by step',
        text: 'On the training batch, of each head: 0 looks at one place, 1 at all alike.',
        unit: 'Entropy ÷ ln of the visible keys',
        scale: 'linear',
        names: spec.names,
        guides: [],
        data: spec.entropy,
        height: spec.steps ? 180 : 220,
        ...(spec.steps && spec.names.length === last.length ? {focus: () => this.head} : {})
      });
    }
  }

  build() {
    const {spec} = this, [layers, heads] = spec.shape;
    this.pictures = [];
    if (spec.steps.length > 1)
      this.root.append(choice(
          spec.steps.map((s) => (s.step === 0 ? 'untrained, step 0' : 'step ' + groupDigits(s.step))), this.step,
          (i) => {
            this.step = i;
            this.draw();
          }));
    this.root.append(element('p', 'sentence', spec.tokens.join('').replace(/\n/g, '⏎')));
    const body = element('div', 'heads'), grid = element('div', 'grid');
    grid.style.gridTemplateColumns = `auto repeat(${Math.min(heads, 8)}, minmax(0, 1fr))`;
    grid.append(
        element('span'), ...Array.from({length: Math.min(heads, 8)}, (_, h) => element('span', '', 'head ' + h)));
    for (let l = layers - 1; l >= 0; --l) {
      for (let h = 0; h < heads; ++h) {
        if (h % 8 === 0) grid.append(element('span', 'row', h === 0 ? 'L' + l : ''));
        const i = l * heads + h, button = element('button'), canvas = element('canvas'), note = element('span');
        button.type = 'button';
        button.append(canvas, note);
        button.addEventListener('click', () => {
          this.head = i;
          this.draw();
        });
        this.pictures[i] = {button, canvas, note};
        grid.append(button);
      }
      for (let h = heads; heads > 8 && h % 8 !== 0; ++h) grid.append(element('span'));
    }
    this.large = element('div', 'large');
    this.plot = element('div', 'plot');
    this.canvas = makeCanvas(this.plot, 'Attention of the chosen head');
    this.caption = element('p', 'unit');
    this.large.append(this.plot, this.caption);
    body.append(grid, this.large);
    this.root.append(body);
    const look = (event) => tooltip.show(this.describe(event), event);
    this.plot.addEventListener('pointermove', look);
    this.plot.addEventListener('pointerdown', look);
    this.plot.addEventListener('pointerleave', () => tooltip.hide());
  }

  /** Square roots of the weights, 0 to 255, [queries, keys] of a head. */
  cells(head) {
    const [, , queries, keys] = this.spec.shape, step = this.spec.steps[this.step];
    step.bytes ??= bytesOf(step.weights);
    return step.bytes.subarray(head * queries * keys, (head + 1) * queries * keys);
  }

  paint(canvas, head) {
    const [, , queries, keys] = this.spec.shape, cells = this.cells(head);
    canvas.width = keys;
    canvas.height = queries;
    const pen = canvas.getContext('2d'), image = pen.createImageData(keys, queries);
    cells.forEach((c, i) => {
      if (c > 0) image.data.set([...viridis(c / 255), 255], 4 * i);
      else image.data.set(i % keys > (i / keys | 0) ? [0, 0, 0, 0] : [...viridis(0), 255], 4 * i);
    });
    pen.putImageData(image, 0, 0);
  }

  draw() {
    this.entropy?.cursorMoved();
    this.entropy?.draw();
    if (!this.pictures) return;
    const [layers, heads] = this.spec.shape, entropy = this.spec.steps[this.step].entropy;
    this.pictures.forEach(({button, canvas, note}, i) => {
      this.paint(canvas, i);
      const uniform = entropy[i] >= 0.95;
      note.replaceChildren(entropy[i].toFixed(2), uniform ? element('span', 'uniform', ' uniform') : '');
      button.setAttribute('aria-pressed', String(i === this.head));
      button.setAttribute('aria-label', `layer ${i / heads | 0}, head ${i % heads}, entropy ${entropy[i].toFixed(2)}`);
    });
    this.paint(this.canvas, this.head);
    this.caption.textContent = `Layer ${this.head / heads | 0}, head ${this.head % heads}, step ${
        groupDigits(
            this.spec.steps[this.step].step)}, entropy ${entropy[this.head].toFixed(2)}. Square-root scale of colors.`;
    this.canvas.setAttribute('aria-label', this.caption.textContent);
  }

  describe(event) {
    const [, , queries, keys] = this.spec.shape, rect = this.canvas.getBoundingClientRect();
    const k = Math.floor((event.clientX - rect.left) / rect.width * keys),
          q = Math.floor((event.clientY - rect.top) / rect.height * queries);
    if (!(k >= 0 && k < keys && q >= 0 && q < queries)) return [];
    const token = (i) => `${i} “${this.spec.tokens[i].replace(/\n/g, '⏎').replace(/^ $/, '␣')}”`;
    return [
      `query ${token(q)}`, `key ${token(k)}`,
      'weight ' + numberText((this.cells(this.head)[q * keys + k] / 255) ** 2, 2)
    ];
  }
}
