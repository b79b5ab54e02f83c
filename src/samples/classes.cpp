#include "samples/classes.h"

#include "samples/files/docx.h"
#include "samples/files/flow.h"
#include "samples/page/paint.h"
#include "samples/page/typeset.h"
#include "samples/scan/effects.h"
#include "samples/scan/photo.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace millrace::samples {
namespace {

constexpr double kDpi = 300;

// A document on pages, and the file that is made of it.
struct Work {
  Chance chance;
  int index = 0;
  Letters letters = {};
  std::string kind = {};
  Document document = {};
  std::vector<SheetPage> pages = {};
  TruthFile truth = {};
  std::string bytes = {};

  void draw_up(std::string_view name, Document made) {
    kind = name;
    document = std::move(made);
    pages = typeset(document, letters);
    truth.language = document.language;
    for (const SheetPage& page : pages) {
      truth.pages.push_back(truth_of(page));
      truth.facts.insert(truth.facts.end(), page.facts.begin(), page.facts.end());
    }
  }

  // For formats that hold one picture.
  void keep_first_page() {
    pages.resize(1);
    truth.pages.resize(1);
    std::erase_if(truth.facts, [](const Fact& fact) { return fact.page > 1; });
  }

  void name_file(std::string_view extension) {
    truth.file = fmt::format("{}_{:02}_{}.{}", truth.sample_class, index + 1, kind, extension);
  }
};

void draw_any(Work& work) {
  const Chance chance = work.chance.fork("document");
  switch (work.index % 7) {
    case 0:
    case 4:
      return work.draw_up("letter", write_letter(chance, Language::en));
    case 1:
      return work.draw_up("lab_report", write_lab_report(chance, Language::en));
    case 2:
      return work.draw_up("prescription", write_prescription(chance));
    case 3:
      return work.draw_up("medication_list", write_medication_list(chance));
    case 5:
      return work.draw_up("form", write_form(chance));
    default:
      return work.draw_up("invoice", write_invoice(chance, Language::en));
  }
}

void finish_born(Work& work) {
  PdfPages pdf(work.document.title);
  for (std::size_t i = 0; i < work.pages.size(); ++i) {
    pdf.add(work.pages[i], work.letters);
    work.truth.pages[i].text_layer = true;
  }
  work.bytes = pdf.finish();
  work.name_file("pdf");
}

Image scanned_page(Work& work, std::size_t page, double dpi = kDpi) {
  return paint_grey(work.pages[page], work.letters, dpi);
}

// Scans as most are: black and white or grey in a PDF, a picture, a TIFF of several pages.
void finish_clean(Work& work) {
  const int form = work.index % 4;
  if (form == 2) {
    work.keep_first_page();
    const Image image = scanned_page(work, 0);
    work.bytes = png_of(image.get());
    return work.name_file("png");
  }
  std::vector<Image> images;
  for (std::size_t i = 0; i < work.pages.size(); ++i) images.push_back(scanned_page(work, i));
  if (form == 3) {
    work.bytes = tiff_of(images);
    return work.name_file("tif");
  }
  PdfPages pdf(work.document.title);
  for (Image& image : images) {
    if (form == 0) {
      pdf.add(pack_fax(image.get()), kDpi);
    } else {
      scanner_grain(image, work.chance, 0.15);
      pdf.add(pack_jpeg(image.get(), 60), kDpi);
    }
  }
  work.bytes = pdf.finish();
  work.name_file("pdf");
}

void finish_rotated(Work& work) {
  const int degrees = 90 * (1 + work.index % 3);
  PdfPages pdf(work.document.title);
  for (std::size_t i = 0; i < work.pages.size(); ++i) {
    Image image = scanned_page(work, i);
    scanner_grain(image, work.chance, 0.1);
    image = quarter_turns(image, degrees);
    pdf.add(work.index % 2 == 0 ? pack_fax(image.get()) : pack_jpeg(image.get(), 60), kDpi);
    work.truth.pages[i].rotation_deg = degrees;
  }
  work.truth.effects = {fmt::format("rotated {}", degrees)};
  work.bytes = pdf.finish();
  work.name_file("pdf");
}

// The boxes of words after the canvas grew around the page.
void recentre(TruthPage& page, double width, double height, double new_width, double new_height) {
  for (TruthWord& word : page.words) {
    const auto x = [&](double v) { return (v * width + (new_width - width) / 2) / new_width; };
    const auto y = [&](double v) { return (v * height + (new_height - height) / 2) / new_height; };
    word.box = {x(word.box.x0), y(word.box.y0), x(word.box.x1), y(word.box.y1)};
  }
}

void finish_skewed(Work& work) {
  constexpr std::array kAngles = {1.0, 4.0, 9.0, 15.0, 0.5, 2.2, 6.5, 12.0};
  const double size = kAngles[static_cast<std::size_t>(work.index) % kAngles.size()];
  PdfPages pdf(work.document.title);
  for (std::size_t i = 0; i < work.pages.size(); ++i) {
    const double degrees = std::round(size * (work.chance.happens(0.5) ? 10 : -10)) / 10;
    const Image straight = scanned_page(work, i);
    Image image = skewed(straight, degrees);
    scanner_grain(image, work.chance, 0.2);
    recentre(work.truth.pages[i], pixGetWidth(straight.get()), pixGetHeight(straight.get()),
             pixGetWidth(image.get()), pixGetHeight(image.get()));
    pdf.add(work.index % 2 == 0 ? pack_fax(image.get()) : pack_jpeg(image.get(), 60), kDpi);
    work.truth.pages[i].skew_deg = degrees;
  }
  work.truth.effects = {fmt::format("skewed {}", size)};
  work.bytes = pdf.finish();
  work.name_file("pdf");
}

struct Spoiling {
  std::string_view name;
  double dpi;
  int quality;  // 0: black and white.
  void (*spoil)(Image& image, Chance& chance, double strength);
};

constexpr auto kSpoilings = std::to_array<Spoiling>({
    {"salt_and_pepper", 200, 45, salt_and_pepper},
    {"gaussian", 200, 45, gaussian_noise},
    {"fax_thick", 300, 0, [](Image& i, Chance& c, double s) { fax(i, c, s, true); }},
    {"fax_thin", 300, 0, [](Image& i, Chance& c, double s) { fax(i, c, s, false); }},
    {"low_contrast", 220, 45,
     [](Image& i, Chance& c, double s) {
       blur(i, 0.5 + s * 0.6);
       low_contrast(i, c, s);
     }},
    {"stain", 240, 55,
     [](Image& i, Chance& c, double s) {
       coffee_stain(i, c, s);
       scanner_grain(i, c, 0.2);
     }},
    {"shadow", 240, 55,
     [](Image& i, Chance& c, double s) {
       fold_shadow(i, c, s);
       scanner_grain(i, c, 0.2);
     }},
    {"jpeg", 115, 25,
     [](Image& i, Chance&, double s) { compress(i, static_cast<int>(26 - 14 * s)); }},
    {"streaks", 200, 45,
     [](Image& i, Chance& c, double s) {
       streaks(i, c, s);
       gaussian_noise(i, c, 0.1);
     }},
});

void finish_noisy(Work& work) {
  constexpr std::array kStrengths = {0.35, 0.65, 0.95};
  const auto index = static_cast<std::size_t>(work.index);
  const Spoiling& spoiling = kSpoilings[index % kSpoilings.size()];
  const double strength = kStrengths[(index + index / kSpoilings.size()) % kStrengths.size()];
  PdfPages pdf(work.document.title);
  for (std::size_t i = 0; i < work.pages.size(); ++i) {
    Image image = scanned_page(work, i, spoiling.dpi);
    spoiling.spoil(image, work.chance, strength);
    pdf.add(
        spoiling.quality == 0 ? pack_fax(image.get()) : pack_jpeg(image.get(), spoiling.quality),
        spoiling.dpi);
  }
  work.truth.effects = {fmt::format("{} {:.2f}", spoiling.name, strength)};
  work.bytes = pdf.finish();
  work.name_file("pdf");
}

void finish_photo(Work& work) {
  constexpr std::array kStrengths = {0.3, 0.6, 0.9};
  const double strength = kStrengths[static_cast<std::size_t>(work.index) % kStrengths.size()];
  work.keep_first_page();
  const Image page = paint_colour(work.pages[0], work.letters, 300);
  const Image picture = photo(page, work.chance, strength);
  work.bytes = pack_jpeg(picture.get(), 60).bytes;
  work.truth.pages[0].words.clear();  // The page is bent: no boxes.
  work.truth.pages[0].checkboxes.clear();
  work.truth.effects = {fmt::format("photo {:.2f}", strength)};
  work.name_file("jpg");
}

// Pages with a text layer and scanned ones in one file, some of them turned.
void finish_multi(Work& work) {
  PdfPages pdf(work.document.title);
  for (std::size_t i = 0; i < work.pages.size(); ++i) {
    TruthPage& truth = work.truth.pages[i];
    if (i % 3 != 1) {
      pdf.add(work.pages[i], work.letters);
      truth.text_layer = true;
      continue;
    }
    Image image = scanned_page(work, i, 200);
    scanner_grain(image, work.chance, 0.2);
    if (i % 2 == 0) {
      image = quarter_turns(image, 180);
      truth.rotation_deg = 180;
    }
    pdf.add(pack_jpeg(image.get(), 55), 200);
  }
  work.bytes = pdf.finish();
  work.name_file("pdf");
}

void make_tables(Work& work) {
  const Chance chance = work.chance.fork("document");
  switch (work.index % 3) {
    case 0:
      work.draw_up("lab_report", write_lab_report(chance, Language::en));
      break;
    case 1:
      work.draw_up("medication_list", write_medication_list(chance));
      break;
    default:
      work.draw_up("invoice", write_invoice(chance, Language::en));
  }
  finish_clean(work);
}

void make_two_column(Work& work) {
  work.draw_up("article", write_article(work.chance.fork("document")));
  if (work.index % 3 == 2) return finish_born(work);
  finish_clean(work);
}

void make_languages(Work& work) {
  constexpr std::array kOthers = {Language::de, Language::fr, Language::es};
  const Language language = kOthers[static_cast<std::size_t>(work.index) % 3];
  const Chance chance = work.chance.fork("document");
  switch (work.index / 3 % 3) {
    case 0:
      work.draw_up("letter", write_letter(chance, language));
      break;
    case 1:
      work.draw_up("invoice", write_invoice(chance, language));
      break;
    default:
      work.draw_up("lab_report", write_lab_report(chance, language));
  }
  work.kind = fmt::format("{}_{}", to_string(language), work.kind);
  if (work.index % 2 == 1) return finish_born(work);
  finish_clean(work);
}

void make_multi(Work& work) {
  work.draw_up("record", write_record(work.chance.fork("document"), 4 + work.index % 4));
  finish_multi(work);
}

void take_flow(Work& work, const Flow& flow, std::string text) {
  work.truth.pages.assign(1, TruthPage{.text = std::move(text), .text_layer = true});
  work.truth.facts = flow.facts;
}

void make_docx(Work& work) {
  draw_any(work);
  const Flow flow = flow_of(work.document);
  take_flow(work, flow, reading_text(flow));
  work.bytes = docx_of(flow);
  work.name_file("docx");
}

void make_text(Work& work) {
  draw_any(work);
  const Flow flow = flow_of(work.document);
  take_flow(work, flow, wrapped_text(flow, 76));
  work.bytes = work.truth.pages[0].text + "\n";
  work.name_file("txt");
}

template <void (*finish)(Work&)>
void make_any(Work& work) {
  draw_any(work);
  finish(work);
}

struct ClassRule {
  std::string_view name;
  void (*make)(Work& work);
};

constexpr auto kClasses = std::to_array<ClassRule>({
    {"born", make_any<finish_born>},
    {"clean", make_any<finish_clean>},
    {"rotated", make_any<finish_rotated>},
    {"skewed", make_any<finish_skewed>},
    {"noisy", make_any<finish_noisy>},
    {"photo", make_any<finish_photo>},
    {"two_column", make_two_column},
    {"table", make_tables},
    {"languages", make_languages},
    {"multi", make_multi},
    {"docx", make_docx},
    {"text", make_text},
});

}  // namespace

std::vector<std::string> default_classes() {
  std::vector<std::string> names;
  for (const ClassRule& rule : kClasses) names.emplace_back(rule.name);
  return names;
}

Result<Sample> make_sample(std::string_view sample_class, std::uint64_t seed, int index) {
  if (sample_class == "long") {
    Sample sample = make_long(false, 300, seed + static_cast<std::uint64_t>(index));
    sample.truth.file = fmt::format("long_{:02}_record.pdf", index + 1);
    return sample;
  }
  const auto rule = std::ranges::find(kClasses, sample_class, &ClassRule::name);
  if (rule == kClasses.end()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("there is no class of samples called \"{}\"", sample_class));
  }
  Work work = {Chance(seed).fork(sample_class, static_cast<std::uint64_t>(index)), index};
  work.truth.sample_class = sample_class;
  work.truth.seed = seed;
  rule->make(work);
  work.truth.kind = work.kind;
  return Sample{std::move(work.bytes), std::move(work.truth)};
}

Sample make_long(bool scanned, int pages, std::uint64_t seed) {
  Work work = {Chance(seed).fork("long"), 0};
  work.truth.sample_class = "long";
  work.truth.seed = seed;
  work.draw_up("record", write_record(work.chance.fork("document"), pages));
  PdfPages pdf(work.document.title);
  for (std::size_t i = 0; i < work.pages.size(); ++i) {
    work.truth.pages[i].words.clear();
    work.truth.pages[i].text_layer = !scanned;
    if (!scanned) {
      pdf.add(work.pages[i], work.letters);
      continue;
    }
    Image image = scanned_page(work, i);
    pdf.add(pack_fax(image.get()), kDpi);
  }
  work.truth.kind = work.kind;
  return {pdf.finish(), std::move(work.truth)};
}

}  // namespace millrace::samples
