// The hostile corpus: files that were made to hurt whoever reads them, and what must come of each.
//
// Nothing is stored: every file is made when it is asked for, from a fixed seed, so the corpus is
// the same everywhere and no bomb lies in the tree. `hostile_files <folder>` writes it out for
// other programs to chew on.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace millrace::hostile {

enum class Expect {
  refused,  // The verdict must be refused, by `rule` if that is set.
  flagged,  // Let in, but `rule` must be noted.
  bounded,  // Any verdict, as long as it ends inside the limits.
  clean,    // The good twins, and what is made to hurt but must do no harm at all.
};

struct HostileFile {
  std::string name;  // Unique; says what is wrong.
  Expect expect = Expect::refused;
  std::string rule = {};
  std::function<std::string()> make;
  std::string file_name = {};  // As a client would call it.
};

using Corpus = std::vector<HostileFile>;

Corpus archives();        // ZIP structure, bombs, nesting, names.
Corpus office_files();    // XML, sheets, slides; macros and remote parts.
Corpus pdf_bombs();       // Streams, filters, images, sizes.
Corpus pdf_structures();  // Loops, depth, cross references, object streams.
Corpus pdf_actions();     // Scripts, launches, embedded files, test virus.
Corpus images();
Corpus other_files();    // Types we do not read, polyglots, names, texts.
Corpus damaged_files();  // Good files cut and changed at many places.
Corpus good_files();

Corpus hostile_corpus();  // All but the good ones.

std::string eicar();
// Bytes of a fixed seed.
std::string noise(std::uint32_t seed, std::size_t size);

}  // namespace millrace::hostile
