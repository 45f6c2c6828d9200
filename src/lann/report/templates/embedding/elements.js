// Elements of the page. Strings become text, never markup.
const byId = id => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function makeTable(caption, header, body) {
  const cells = header.map(name => make('th', {scope: 'col', textContent: name}));
  return make('table', {}, make('caption', {textContent: caption}),
    make('thead', {}, make('tr', {}, ...cells)), body);
}

// The mark of a class as a small picture beside text.
function classIcon(j) {
  const namespace = 'http://www.w3.org/2000/svg', svg = document.createElementNS(namespace, 'svg');
  svg.setAttribute('viewBox', '-1.4 -1.4 2.8 2.8');
  svg.setAttribute('class', 'mark');
  svg.setAttribute('aria-hidden', 'true');
  svg.style.setProperty('--own', `var(${classColor(j)})`);
  svg.append(document.createElementNS(namespace, 'path'));
  svg.firstChild.setAttribute('d', data.shapes[j % data.shapes.length]);
  return svg;
}
const classMark = j => make('span', {className: 'class'}, classIcon(j), make('span', {textContent: classes[j]}));
const softText = text => make('span', {className: 'soft', textContent: text});
