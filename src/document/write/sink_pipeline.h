// A pipeline of qpdf that ends in an OpSink, and counts.
#pragma once

#include "document/inspect/qpdf.h"
#include "document/op.h"

#include <cstdint>
#include <optional>
#include <qpdf/Pipeline.hh>
#include <stdexcept>

namespace millrace::document {

class SinkPipeline final : public Pipeline {
 public:
  explicit SinkPipeline(OpSink& sink) : Pipeline("sink", nullptr), sink_(sink) {}

  void write(unsigned char const* data, size_t size) override {
    const auto written = sink_.write({reinterpret_cast<const std::byte*>(data), size});
    if (!written.has_value()) {
      error_ = written.error();
      throw std::runtime_error("the output is not taken any more");  // Through qpdf, to its caller.
    }
    bytes_ += size;
  }
  void finish() override {}

  std::uint64_t bytes() const { return bytes_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  OpSink& sink_;
  std::uint64_t bytes_ = 0;
  std::optional<Error> error_;
};

}  // namespace millrace::document
