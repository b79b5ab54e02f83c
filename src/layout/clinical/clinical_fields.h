// Readers that the forms of the three passes share.
#pragma once

#include "layout/clinical/pass.h"
#include "layout/json_fields.h"
#include "layout/page.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

// Letters, figures, dashes and underscores.
Result<std::string> id_of(const Fields& fields, std::string_view name, const PassLimits& limits);
Result<std::vector<std::string>> ids_of(const Fields& fields, std::string_view name,
                                        const PassLimits& limits, std::size_t count_max);
Result<double> conf_of(const Fields& fields);
Result<WordRange> words_of(const Fields& fields, std::string_view name);
Result<std::string> text_of(const Fields& fields, std::string_view name, const PassLimits& limits);
Result<void> check_schema(const Fields& fields, Pass pass);

json::Array ids_json(const std::vector<std::string>& ids);
json::Array words_json(WordRange words);

}  // namespace millrace::layout::clinical
