#include "render/page_script.h"

#include "base/json.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace millrace::render {
namespace {

// Pictures that have more pixels than the paper shows are drawn smaller. The density of a srcset
// keeps their size in the layout.
constexpr std::string_view kShrink = R"js(
  const shrink = async (image) => {
    const has = image.naturalWidth, wide = image.getBoundingClientRect().width;
    const wanted = Math.ceil(wide * o.dpi / 96);
    if (!wanted || has <= wanted * 1.1 || /^data:image\/svg/i.test(image.currentSrc)) return;
    const canvas = document.createElement('canvas');
    canvas.width = wanted;
    canvas.height = Math.max(1, Math.round(image.naturalHeight * wanted / has));
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    const photo = /^data:image\/jpe?g/i.test(image.currentSrc);
    const url = canvas.toDataURL(photo ? 'image/jpeg' : 'image/png', o.jpeg);
    if (!url.startsWith('data:image/')) return;
    if (image.parentElement && image.parentElement.localName === 'picture')
      for (const other of [...image.parentElement.querySelectorAll('source')]) other.remove();
    image.removeAttribute('src');
    image.removeAttribute('sizes');
    image.srcset = url + ' ' + wanted / has + 'x';
    await image.decode().catch(() => {});
  };
)js";

// A filter over the whole page would turn its text into a picture. So colours are changed where
// they are used, and only pictures get a filter.
constexpr std::string_view kGrey = R"js(
  const pixel = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const channels = (text) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = '#000';
    pixel.fillStyle = text;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const grey = (text) => text.replace(/\b(?:rgba?|color|lab|lch|oklab|oklch)\([^()]*\)/g, (one) => {
    const plain = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(one);
    const [r, g, b, a] = plain ? [+plain[1], +plain[2], +plain[3], plain[4] ?? 1] : channels(one);
    if (r === g && g === b) return one;
    const y = Math.round(0.2126 * r + 0.7152 * g + 0.0722 * b);
    return `rgba(${y}, ${y}, ${y}, ${a})`;
  });
  const names = ['color', 'background-color', 'border-top-color', 'border-right-color',
    'border-bottom-color', 'border-left-color', 'outline-color', 'text-decoration-color',
    'column-rule-color', 'fill', 'stroke', 'stop-color', 'flood-color', 'lighting-color',
    'box-shadow', 'text-shadow', 'background-image', 'border-image-source',
    '-webkit-text-fill-color', '-webkit-text-stroke-color', 'text-emphasis-color'];
  const picture = (url) => new Promise((done) => {
    const image = new Image();
    image.src = url;
    image.decode().then(() => {
      const canvas = document.createElement('canvas');
      canvas.width = image.naturalWidth || 1;
      canvas.height = image.naturalHeight || 1;
      const to = canvas.getContext('2d');
      to.filter = 'grayscale(1)';
      to.drawImage(image, 0, 0);
      done(canvas.toDataURL());
    }).catch(() => done('data:,'));
  });
  const changes = async (style) => {
    const found = [];
    for (const name of names) {
      const old = style.getPropertyValue(name);
      if (!old || old === 'none') continue;
      let now = grey(old);
      for (const [all, url] of [...now.matchAll(/url\("(data:[^"]*)"\)/g)]) {
        const made = await picture(url);
        now = now.replace(all, () => `url("${made}")`);
      }
      if (now !== old) found.push([name, now]);
    }
    return found;
  };
  const turn_grey = async () => {
    const rules = ['*,*::before,*::after{transition:none!important;animation:none!important}'];
    const later = [];
    const numbers = new Map();
    for (const element of [...document.querySelectorAll('*')]) {
      later.push([element, await changes(getComputedStyle(element))]);
      for (const part of ['::before', '::after', '::marker']) {
        const style = getComputedStyle(element, part);
        if (part !== '::marker' && style.content === 'none') continue;
        if (part === '::marker' && style.display !== 'list-item' &&
            getComputedStyle(element).display !== 'list-item') continue;
        const found = await changes(style);
        if (found.length === 0) continue;
        if (!numbers.has(element)) numbers.set(element, numbers.size + 1);
        element.setAttribute('data-millrace', numbers.get(element));
        rules.push(`[data-millrace="${numbers.get(element)}"]${part}{` +
          found.map(([name, value]) => `${name}:${value}!important`).join(';') + '}');
      }
    }
    const sheet = document.createElement('style');
    sheet.textContent = rules.join('\n');
    (document.head ?? document.documentElement).append(sheet);
    for (const [element, found] of later) {
      if (!element.style) continue;
      for (const [name, value] of found) element.style.setProperty(name, value, 'important');
      if (['img', 'image', 'canvas', 'video', 'object', 'input'].includes(element.localName))
        element.style.setProperty('filter', 'grayscale(1)', 'important');
    }
  };
)js";

// Tells characters that no font can draw: they look like one that surely none can. A canvas costs
// more than printing a plain page, so there is none before it is needed.
constexpr std::string_view kGlyphs = R"js(
  const nowhere = '\u{10fffd}', boxes = new Map();
  let pen;
  const look = (text) => {
    pen.clearRect(0, 0, 24, 24);
    pen.fillText(text, 2, 18);
    return pen.getImageData(0, 0, 24, 24).data.join();
  };
  const is_box = (font, one) => {
    if (!pen) {
      const canvas = document.createElement('canvas');
      canvas.width = canvas.height = 24;
      pen = canvas.getContext('2d', {willReadFrequently: true});
    }
    pen.font = font;
    pen.textBaseline = 'alphabetic';
    if (!boxes.has(font)) boxes.set(font, [pen.measureText(nowhere).width, look(nowhere)]);
    const [width, box] = boxes.get(font);
    return pen.measureText(one).width === width && look(one) === box;
  };
)js";

// Only characters beyond the Latin letters are tried that the browser has not drawn before any
// document came, in the fonts they stand in, and each once.
constexpr std::string_view kMissing = R"js(
  const missing_glyphs = () => {
    const rare = /[^\u0000-\u024f\p{M}\p{C}\p{Z}]/gu;
    const drawn = new Set(o.drawn), missing = new Set(), tried = new Set();
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && tried.size < 2000 && missing.size < 20) {
      const found = (walker.currentNode.data.match(rare) ?? []).filter((one) => !drawn.has(one));
      const parent = walker.currentNode.parentElement;
      if (!found.length || !parent || !parent.getClientRects().length) continue;
      const style = getComputedStyle(parent);
      const font = `${style.fontWeight} 16px ${style.fontFamily}`;
      for (const one of new Set(found)) {
        if (tried.size >= 2000 || tried.has(font + one)) continue;
        tried.add(font + one);
        if (is_box(font, one)) missing.add(one);
      }
    }
    return [...missing].slice(0, 20).join('');
  };
)js";

// Greek, Cyrillic, Latin with marks below and above, punctuation, currencies, letterlike signs,
// arrows, mathematics, geometric shapes: what documents in Latin script have among their letters.
constexpr std::string_view kDrawn = R"js(
  const ranges = [[0x370, 0x3ff], [0x400, 0x45f], [0x1e00, 0x1eff], [0x2010, 0x2027],
    [0x2030, 0x205e], [0x20a0, 0x20bf], [0x2100, 0x214f], [0x2190, 0x21ff], [0x2200, 0x22ff],
    [0x25a0, 0x25ff]];
  let drawn = '';
  for (const [first, last] of ranges)
    for (let code = first; code <= last; ++code)
      if (!is_box('16px sans-serif', String.fromCodePoint(code)))
        drawn += String.fromCodePoint(code);
  return drawn;
)js";

// A document's own wish to print its backgrounds is not a draft's.
constexpr std::string_view kEconomy = R"js(
  const economy = document.createElement('style');
  economy.textContent = '*,*::before,*::after{print-color-adjust:economy!important}';
  (document.head ?? document.documentElement)?.append(economy);
)js";

struct Pictures {
  int dpi;  // 0: as they are.
  double jpeg;
};

Pictures pictures_of(Quality quality) {
  switch (quality) {
    case Quality::draft:
      return {.dpi = 96, .jpeg = 0.6};
    case Quality::normal:
      return {.dpi = 220, .jpeg = 0.88};
    case Quality::high:
      return {.dpi = 0, .jpeg = 1};
  }
  std::unreachable();
}

}  // namespace

std::string document_head(bool scripts, bool policy) {
  if (!policy) return "<!DOCTYPE html><meta charset=\"utf-8\">";
  return fmt::format(
      "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline' "
      "data:; script-src {}; form-action 'none'; base-uri 'none'\">",
      scripts ? "'unsafe-inline'" : "'none'");
}

std::string make_drawn_expression() { return fmt::format("(() => {{{}{}}})()", kGlyphs, kDrawn); }

std::string make_ready_expression(const RenderOptions& options, std::string_view drawn) {
  const Pictures pictures = pictures_of(options.quality);
  const bool grey = options.color_mode == ColorMode::grayscale;
  std::string text = "(async (o) => {\n";
  if (pictures.dpi > 0) text += kShrink;
  if (grey) text += kGrey;
  text += kGlyphs;
  text += kMissing;
  text +=
      "  if (document.readyState !== 'complete') return 'loading';\n"
      "  await document.fonts.ready;\n"
      "  const images = [...document.images];\n"
      "  for (const image of images) image.loading = 'eager';\n"
      "  await Promise.allSettled(images.map((image) => image.decode()));\n";
  if (pictures.dpi > 0) text += "  for (const image of images) await shrink(image);\n";
  if (options.scripts) {
    text += "  await new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)));\n";
  }
  if (grey) text += "  await turn_grey();\n";
  if (options.quality == Quality::draft) text += kEconomy;
  text += fmt::format("  return '{}' + missing_glyphs();\n}})({{dpi: {}, jpeg: {}, drawn: {}}})",
                      kComplete, pictures.dpi, pictures.jpeg, json_quote(drawn));
  return text;
}

std::string make_sheet_expression(const RenderOptions& options) {
  const Margins margins = margins_of(options);
  return fmt::format(
      "(() => {{ const style = document.documentElement && document.documentElement.style;"
      " if (style) for (const [name, value] of [['padding', '{}in {}in {}in {}in'], ['margin', "
      "'0'], ['box-sizing', 'border-box'], ['background-color', 'white']])"
      " style.setProperty(name, value, 'important'); }})()",
      margins.top, margins.right, margins.bottom, margins.left);
}

}  // namespace millrace::render
