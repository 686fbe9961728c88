// Pages are whole without this: all claims are shown, and figures have the browser's own tooltips.

// Claims: words, verdict, source and experiment; a link may ask for them (?verdict=reproduced).
const search = document.querySelector('.search');
if (search) {
  const rows = [...document.querySelectorAll('.claim')];
  const filters = [...search.querySelectorAll('select')];
  const show = () => {
    const words = search.words.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word)) ||
        filters.some(filter => filter.value && filter.value !== row.dataset[filter.name]);
    }
    search.querySelector('output').value = `${rows.filter(row => !row.hidden).length} of ${rows.length}`;
  };
  for (const [name, value] of new URLSearchParams(location.search))
    if (search.elements[name]) search.elements[name].value = value;
  search.addEventListener('input', show);
  search.addEventListener('submit', event => event.preventDefault());
  search.hidden = false;
  show();
}

// Figures: the words of a point under the pointer or in focus, arrows from point to point, zoom.
const tip = document.body.appendChild(document.createElement('div'));
tip.className = 'tip';
tip.hidden = true;
const tell = point => {
  const at = point.getBoundingClientRect();
  tip.textContent = point.getAttribute('aria-label');
  tip.hidden = false;
  tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${at.top > tip.offsetHeight + 12 ? at.top - tip.offsetHeight - 6 : at.bottom + 6}px`;
};
for (const svg of document.querySelectorAll('.explore > svg, .forest > svg')) {
  const points = [...svg.querySelectorAll('a')];
  points.forEach((point, i) => {
    point.setAttribute('aria-label', point.querySelector('title').textContent);
    point.querySelector('title').remove();
    point.setAttribute('tabindex', i ? -1 : 0);
    for (const event of ['mouseenter', 'focus', 'click']) point.addEventListener(event, () => tell(point));
    for (const event of ['mouseleave', 'blur']) point.addEventListener(event, () => { tip.hidden = true; });
    point.addEventListener('keydown', event => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (event.key === 'Escape') tip.hidden = true;
      if (!step) return;
      event.preventDefault();
      points[(i + step + points.length) % points.length].focus();
    });
  });
  const box = svg.parentElement;
  if (!box.matches('.explore')) continue;
  let scale = 1;
  const zoom = factor => {
    const [x, y] = [box.scrollLeft + box.clientWidth / 2, box.scrollTop + box.clientHeight / 2];
    const before = scale;
    scale = Math.min(8, Math.max(1, scale * factor));
    box.style.height = scale > 1 ? `${box.offsetHeight}px` : '';
    svg.style.width = scale > 1 ? `${100 * scale}%` : '';
    box.scrollTo(x * scale / before - box.clientWidth / 2, y * scale / before - box.clientHeight / 2);
    tip.hidden = true;
  };
  box.addEventListener('wheel', event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.25 : 0.8);
  }, {passive: false});
  box.addEventListener('keydown', event => {
    const factor = {'+': 1.5, '=': 1.5, '-': 1 / 1.5, 0: 1 / 8}[event.key];
    if (factor && !event.ctrlKey) zoom(factor);
  });
  for (const [text, label, factor] of [['+', 'Larger', 1.5], ['\u2212', 'Smaller', 1 / 1.5]]) {
    const button = Object.assign(document.createElement('button'), {type: 'button', textContent: text, title: label});
    button.setAttribute('aria-label', label);
    button.className = [...box.classList].filter(name => name.startsWith('for-')).join(' ');
    button.addEventListener('click', () => zoom(factor));
    box.parentElement.querySelector('.tools').prepend(button);
  }
}
// A point that takes the focus may scroll the page: its words go with it.
addEventListener('scroll', () => {
  const point = document.activeElement;
  if (point.matches('svg a') && !tip.hidden) tell(point);
  else tip.hidden = true;
}, {capture: true, passive: true});
