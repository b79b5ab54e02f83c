// hostile_files <folder>: writes the corpus, one file each, and a list of what is expected of them.
#include "corpus.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <fstream>

int main(int argc, char** argv) {
  using namespace millrace::hostile;
  if (argc != 2) {
    fmt::print(stderr, "usage: hostile_files FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::ofstream list(folder / "list.txt");
  int number = 0;
  for (const auto& file : hostile_corpus()) {
    const auto name = fmt::format("{:03}", ++number);
    std::ofstream(folder / name, std::ios::binary) << file.make();
    fmt::print(list, "{}\t{}\t{}\n", name, file.rule, file.name);
  }
  fmt::print("{} files\n", number);
  return 0;
}
