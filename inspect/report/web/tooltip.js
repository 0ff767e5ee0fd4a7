
// The tooltip of the page, close to the pointer and inside the window.
const tooltip = {
  box: element('div', 'tooltip'),

  /** The first line is a name, the others are values. */
  show(lines, event) {
    if (!lines || lines.length === 0) return this.hide();
    this.box.replaceChildren(...lines.map((line, i) => element('div', i === 0 ? 'head' : '', line)));
    if (!this.box.isConnected) document.body.append(this.box);
    this.box.style.display = 'block';
    const {offsetWidth: width, offsetHeight: height} = this.box, available = document.documentElement.clientWidth;
    const right = event.clientX + 16 + width < available - 8;
    const left = right ? event.clientX + 16 : Math.max(8, event.clientX - 16 - width);
    const top = Math.max(8, Math.min(innerHeight - height - 8, event.clientY - height / 2));
    this.box.style.left = left + 'px';
    this.box.style.top = top + 'px';
  },
  hide() { this.box.style.display = 'none'; },
};
