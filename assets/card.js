// The words of a figure and the status line: JSON in, text nodes out. Nothing here is ever parsed as markup.

function specvizCard(element, value) {
  const card = JSON.parse(value || '{}'), find = (name) => element.querySelector(name);
  find('h2').textContent = card.title || '';
  const source = find('.sv-source');
  source.textContent = card.source ? card.source.label : '';
  source.dataset.kind = card.source ? card.source.kind : '';
  find('.sv-read').textContent = card.read || '';
  find('.sv-made').textContent = card.made || '';
  find('.sv-files').replaceChildren(...(card.files || []).map((file) => specvizDownload(file, card.title)));
}

function specvizDownload(file, title) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = file.label;
  button.setAttribute('aria-label', `Download ${file.label} of: ${title}`);
  button.addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([file.text], { type: 'application/octet-stream' }));
    link.download = file.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  return button;
}

function specvizStatus(element, value) {
  const status = JSON.parse(value || '{}'), line = element.querySelector('.sv-notice');
  line.dataset.kind = status.kind || (status.text ? 'note' : '');
  line.querySelector('.text').textContent = status.text || '';
  const bar = element.querySelector('.sv-progress');
  bar.hidden = !status.of;
  bar.max = status.of || 1;
  bar.value = status.done || 0;
}
