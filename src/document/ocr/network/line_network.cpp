#include "document/ocr/network/line_network.h"

#include "document/ocr/network/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace millrace::document {
namespace {

constexpr std::size_t kGates = 4;
constexpr std::size_t kConvolved = 9;  // 3 × 3 pixels.
constexpr std::size_t kPool = 3;
constexpr std::uint32_t kLearningRates = 64;  // Flag: a list of numbers follows a series.

struct Header {
  std::string_view kind;
  std::uint32_t flags = 0;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};

// Rows of weights, the last of each row being the bias.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values = {};
  float at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

}  // namespace

// Reads layers in the order in which they must come.
class NetworkParser {
 public:
  explicit NetworkParser(std::string_view bytes) : reader_(bytes) {}

  Result<LineNetwork> parse() {
    MR_TRY(const auto series, expect("Series"));
    const auto layers = reader_.number<std::uint32_t>();
    MR_TRY_VOID(parse_input());
    MR_TRY_VOID(parse_convolution());
    MR_TRY_VOID(parse_pool());
    MR_TRY_VOID(parse_down());
    for (std::uint32_t i = 4; i + 1 < layers && i < kLayersMax; ++i) MR_TRY_VOID(parse_along());
    MR_TRY_VOID(parse_output());
    skip_rates(series);
    reader_.text();                  // How it was specified.
    reader_.number<std::int32_t>();  // Training flags, then how long it was trained.
    reader_.number<std::int32_t>();
    reader_.number<std::int32_t>();
    const auto null_code = reader_.number<std::int32_t>();
    if (reader_.failed() || null_code < 0 ||
        static_cast<std::size_t>(null_code) >= network_.codes_) {
      return other_form("its end");
    }
    network_.null_code_ = static_cast<std::size_t>(null_code);
    return std::move(network_);
  }

 private:
  static constexpr std::uint32_t kLayersMax = 32;
  static constexpr std::size_t kSideMax = 4096;

  ModelReader reader_;
  LineNetwork network_;

  static std::unexpected<Error> other_form(std::string_view where) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the model is not of the known form: {}", where));
  }

  Header header() {
    Header out;
    reader_.number<std::uint8_t>();  // The kind follows as text.
    out.kind = reader_.text();
    reader_.number<std::uint8_t>();
    reader_.number<std::uint8_t>();
    out.flags = reader_.number<std::uint32_t>();
    out.inputs = reader_.number<std::uint32_t>();
    out.outputs = reader_.number<std::uint32_t>();
    reader_.number<std::uint32_t>();  // Weights.
    reader_.text();                   // Name.
    return out;
  }

  Result<Header> expect(std::string_view kind) {
    const auto found = header();
    const bool fits = found.inputs <= kSideMax && found.outputs <= kSideMax;
    if (reader_.failed() || found.kind != kind || !fits) return other_form(kind);
    return found;
  }

  void skip_rates(const Header& series) {
    if ((series.flags & kLearningRates) == 0) return;
    reader_.take(std::size_t{reader_.number<std::uint32_t>()} * sizeof(float));
  }

  Result<Matrix> matrix() {
    constexpr unsigned kWhole = 1;
    constexpr unsigned kDouble = 128;
    const unsigned mode = reader_.number<std::uint8_t>();
    if ((mode & kWhole) == 0 || (mode & kDouble) == 0) return other_form("weights");
    Matrix out;
    out.rows = reader_.number<std::uint32_t>();
    out.columns = reader_.number<std::uint32_t>();
    reader_.number<std::uint8_t>();
    if (out.rows > kSideMax || out.columns > kSideMax || out.columns < 1) {
      return other_form("weights");
    }
    const auto bytes = reader_.take(out.rows * out.columns);
    const auto scales = reader_.number<std::uint32_t>();
    if (reader_.failed() || scales < out.rows) return other_form("scales");
    for (std::size_t row = 0; row < out.rows; ++row) {
      const auto scale = reader_.number<double>();
      for (std::size_t column = 0; column < out.columns; ++column) {
        const auto weight = static_cast<signed char>(bytes[row * out.columns + column]);
        out.values.push_back(static_cast<float>(scale * weight));
      }
    }
    reader_.take((scales - out.rows) * sizeof(double));
    return out;
  }

  static Dense dense_of(const Matrix& matrix) {
    Dense out(matrix.rows, matrix.columns - 1);
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      for (std::size_t i = 0; i + 1 < matrix.columns; ++i) out.set(row, i, matrix.at(row, i));
      out.set_bias(row, matrix.at(row, matrix.columns - 1));
    }
    return out;
  }

  Result<void> parse_input() {
    MR_TRY_VOID(expect("Input"));
    reader_.number<std::uint32_t>();
    network_.height_ = reader_.number<std::uint32_t>();
    const auto width = reader_.number<std::uint32_t>();
    const auto depth = reader_.number<std::uint32_t>();
    reader_.number<std::uint32_t>();
    const bool fits = network_.height_ >= 12 && network_.height_ <= 256 && width == 0 && depth == 1;
    if (!fits || network_.height_ % kPool != 0) return other_form("input");
    return ok();
  }

  Result<void> parse_convolution() {
    MR_TRY(const auto series, expect("Series"));
    if (reader_.number<std::uint32_t>() != 2) return other_form("convolution");
    MR_TRY_VOID(expect("Convolve"));
    const auto half_x = reader_.number<std::uint32_t>();
    const auto half_y = reader_.number<std::uint32_t>();
    MR_TRY_VOID(expect("Tanh"));
    MR_TRY(const auto weights, matrix());
    skip_rates(series);
    if (half_x != 1 || half_y != 1 || weights.columns != kConvolved + 1 ||
        weights.rows % kPanel != 0) {
      return other_form("convolution");
    }
    network_.convolution_ = dense_of(weights);
    network_.features_ = weights.rows;
    return ok();
  }

  Result<void> parse_pool() {
    MR_TRY_VOID(expect("Maxpool"));
    const auto x = reader_.number<std::uint32_t>();
    const auto y = reader_.number<std::uint32_t>();
    if (x != kPool || y != kPool) return other_form("maximum");
    return ok();
  }

  Result<LineNetwork::Lstm> lstm(std::size_t inputs) {
    LineNetwork::Lstm out;
    reader_.number<std::uint32_t>();
    for (std::size_t gate = 0; gate < kGates; ++gate) {
      MR_TRY(const auto weights, matrix());
      if (gate == 0) {
        out.cells = weights.rows;
        out.input = Dense(kGates * out.cells, inputs);
        out.recurrent = Dense(kGates * out.cells, out.cells);
      }
      const bool fits = weights.rows == out.cells && out.cells % kPanel == 0 &&
                        weights.columns == inputs + out.cells + 1;
      if (!fits) return other_form("LSTM");
      for (std::size_t cell = 0; cell < out.cells; ++cell) {
        const auto row = gate * out.cells + cell;
        for (std::size_t i = 0; i < inputs; ++i) out.input.set(row, i, weights.at(cell, i));
        for (std::size_t i = 0; i < out.cells; ++i) {
          out.recurrent.set(row, i, weights.at(cell, inputs + i));
        }
        out.input.set_bias(row, weights.at(cell, inputs + out.cells));
      }
    }
    return out;
  }

  Result<void> parse_down() {
    MR_TRY(const auto turned, expect("XYTranspose"));
    if (reader_.number<std::uint32_t>() != 1) return other_form("LSTM down");
    MR_TRY_VOID(expect("SummLSTM"));
    MR_TRY(network_.down_, lstm(network_.features_));
    skip_rates(turned);
    return ok();
  }

  Result<void> parse_along() {
    const auto inputs =
        network_.along_.empty() ? network_.down_.cells : network_.along_.back().cells;
    const auto found = header();
    if (reader_.failed()) return other_form("LSTM");
    if (found.kind == "LSTM") {
      MR_TRY(auto layer, lstm(inputs));
      network_.along_.push_back(std::move(layer));
      return ok();
    }
    if (found.kind != "RTLReversed" || reader_.number<std::uint32_t>() != 1) {
      return other_form(found.kind);
    }
    MR_TRY_VOID(expect("LSTM"));
    MR_TRY(auto layer, lstm(inputs));
    layer.backwards = true;
    network_.along_.push_back(std::move(layer));
    skip_rates(found);
    return ok();
  }

  Result<void> parse_output() {
    MR_TRY_VOID(expect("Softmax"));
    MR_TRY(const auto weights, matrix());
    const bool fits = !network_.along_.empty() &&
                      weights.columns == network_.along_.back().cells + 1 && weights.rows > 1;
    if (!fits) return other_form("softmax");
    network_.codes_ = weights.rows;
    network_.output_ = dense_of(weights);
    return ok();
  }
};

Result<LineNetwork> LineNetwork::parse(std::string_view bytes) {
  return NetworkParser(bytes).parse();
}

namespace {

// Black and white of a line: writing crosses its middle, so the dips and peaks there are samples of
// both. Pixels go from -1 (black) to 1 (white).
struct Range {
  float black = 0;
  float half = 127;
};

Range range_of(const Gray& line) {
  std::array<std::uint32_t, 256> dips{};
  std::array<std::uint32_t, 256> peaks{};
  std::uint32_t dip_count = 0;
  std::uint32_t peak_count = 0;
  const auto* row = line.row(line.height / 2);
  for (int x = 1; x + 1 < line.width; ++x) {
    const int before = row[x - 1];
    const int here = row[x];
    const int after = row[x + 1];
    if ((here < before && here <= after) || (here <= before && here < after)) {
      ++dips[static_cast<std::size_t>(here)];
      ++dip_count;
    }
    if ((here > before && here >= after) || (here >= before && here > after)) {
      ++peaks[static_cast<std::size_t>(here)];
      ++peak_count;
    }
  }
  const auto quantile = [](const std::array<std::uint32_t, 256>& counts, double wanted) {
    double seen = 0;
    for (std::size_t i = 0; i < 256; ++i) {
      seen += counts[i];
      if (seen > 0 && seen >= wanted) return static_cast<float>(i);
    }
    return 255.0F;
  };
  Range out;
  out.black = dip_count == 0 ? 0 : quantile(dips, 0.25 * dip_count);
  const float white = peak_count == 0 ? 255 : quantile(peaks, 0.75 * peak_count);
  out.half = std::max((white - out.black) / 2, 1.0F);
  return out;
}

}  // namespace

// Columns of pixels, each from top to bottom, each pixel with its features.
std::vector<float> LineNetwork::convolve(const Gray& line) const {
  const auto width = static_cast<std::size_t>(line.width);
  const auto range = range_of(line);
  // A frame of white around the image saves asking whether a neighbour is there.
  const std::size_t high = height_ + 2;
  std::vector<float> pixels((width + 2) * high, 1.0F);
  for (std::size_t y = 0; y < height_; ++y) {
    const auto* row = line.row(static_cast<int>(y));
    for (std::size_t x = 0; x < width; ++x) {
      pixels[(x + 1) * high + y + 1] =
          std::clamp((static_cast<float>(row[x]) - range.black) / range.half - 1, -1.0F, 1.0F);
    }
  }
  std::vector<float> around(height_ * kConvolved);
  std::vector<float> out(width * height_ * features_);
  for (std::size_t x = 0; x < width; ++x) {
    for (std::size_t y = 0; y < height_; ++y) {
      for (std::size_t dx = 0; dx < 3; ++dx) {
        std::copy_n(&pixels[(x + dx) * high + y], 3, &around[y * kConvolved + dx * 3]);
      }
    }
    convolution_.product(around.data(), kConvolved, &out[x * height_ * features_], features_,
                         height_);
  }
  tanh_in_place(out.data(), out.size());
  return out;
}

// The greatest of 3 × 3. Out come columns again, a third as many, a third as high.
std::vector<float> LineNetwork::pool(const std::vector<float>& in, std::size_t width) const {
  const std::size_t steps = width / kPool;
  const std::size_t rows = height_ / kPool;
  std::vector<float> out(steps * rows * features_, -2.0F);
  for (std::size_t x = 0; x < steps * kPool; ++x) {
    for (std::size_t y = 0; y < height_; ++y) {
      const float* from = &in[(x * height_ + y) * features_];
      float* to = &out[(x / kPool * rows + y / kPool) * features_];
      for (std::size_t i = 0; i < features_; ++i) to[i] = std::max(to[i], from[i]);
    }
  }
  return out;
}

// All columns go down together.
std::vector<float> LineNetwork::run_down(const std::vector<float>& in, std::size_t steps) const {
  const std::size_t rows = height_ / kPool;
  const std::size_t cells = down_.cells;
  const std::size_t wide = kGates * cells;
  std::vector<float> gates(steps * wide);
  std::vector<float> state(steps * cells, 0.0F);
  std::vector<float> output(steps * cells, 0.0F);
  for (std::size_t y = 0; y < rows; ++y) {
    down_.input.product(&in[y * features_], rows * features_, gates.data(), wide, steps);
    if (y > 0) down_.recurrent.add_product(output.data(), cells, gates.data(), wide, steps);
    for (std::size_t x = 0; x < steps; ++x) {
      lstm_step({.gates = &gates[x * wide],
                 .state = &state[x * cells],
                 .output = &output[x * cells],
                 .cells = cells});
    }
  }
  return output;
}

std::vector<float> LineNetwork::run_along(const Lstm& lstm, const std::vector<float>& in,
                                          std::size_t steps) {
  const std::size_t wide = kGates * lstm.cells;
  std::vector<float> gates(steps * wide);
  lstm.input.product(in.data(), lstm.input.inputs(), gates.data(), wide, steps);
  std::vector<float> state(lstm.cells, 0.0F);
  std::vector<float> out(steps * lstm.cells);
  const float* last = nullptr;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t step = lstm.backwards ? steps - 1 - i : i;
    if (last != nullptr) {
      lstm.recurrent.add_product(last, lstm.cells, &gates[step * wide], wide, 1);
    }
    lstm_step({.gates = &gates[step * wide],
               .state = state.data(),
               .output = &out[step * lstm.cells],
               .cells = lstm.cells});
    last = &out[step * lstm.cells];
  }
  return out;
}

CodeProbabilities LineNetwork::run(const Gray& line) const {
  CodeProbabilities out{.codes = codes_};
  const auto width = static_cast<std::size_t>(line.width);
  const std::size_t steps = width / kPool;
  if (steps == 0 || static_cast<std::size_t>(line.height) != height_) return out;
  auto values = run_down(pool(convolve(line), width), steps);
  for (const auto& lstm : along_) values = run_along(lstm, values, steps);
  const std::size_t wide = output_.outputs();
  std::vector<float> last(steps * wide);
  output_.product(values.data(), output_.inputs(), last.data(), wide, steps);
  out.values.resize(steps * codes_);
  for (std::size_t step = 0; step < steps; ++step) {
    float* row = &out.values[step * codes_];
    std::copy_n(&last[step * wide], codes_, row);
    softmax_in_place(row, codes_);
  }
  return out;
}

}  // namespace millrace::document
