// Names under which files are handed out: titles that people chose, made safe for whoever saves or
// unpacks them.
//
// Pure functions and values; texts are UTF-8. Threading: one at a time.
#pragma once

#include <locale.h>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace millrace::api {

// Of a file that is saved by itself, as stores and Content-Disposition take it: one name and no
// path, 255 bytes at most, its kind (".pdf") kept. Empty for one that is all controls.
std::string saved_file_name(std::string_view title);

// Of one among others, in an archive or a folder, on whatever system that is unpacked: what a file
// system could take for something else (a path, a device, a name read from the other side) becomes
// '_' or goes; 200 bytes at most, its kind kept. Never empty.
std::string packed_file_name(std::string_view title);

// Gives each of several files a name that no file system takes for another's: "CV.pdf",
// "cv (2).pdf".
class FileNames {
 public:
  FileNames();

  std::string add(std::string_view title);

 private:
  struct FreeLocale {
    void operator()(locale_t locale) const { ::freelocale(locale); }
  };

  // As file systems compare names that do not care for capitals.
  std::string folded(std::string_view name) const;

  // Unicode's capitals; without it those of ASCII.
  std::unique_ptr<std::remove_pointer_t<locale_t>, FreeLocale> letters_;
  std::set<std::string> used_;  // Folded.
};

}  // namespace millrace::api
