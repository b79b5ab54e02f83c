// What all of OpenAI's services share: keys, errors, limits in headers (INTEGRATIONS §1.3).
#pragma once

#include "side.h"

#include <string>
#include <string_view>

namespace millrace::test {

WireReply openai_error(int status, std::string_view message, std::string_view type,
                       const json::Value& code);
WireReply openai_invalid(std::string_view message, std::string_view code = "invalid_request_error");
std::string openai_key(const WireRequest& request);
WireReply openai_wrong_key(bool missing);
WireReply openai_trouble(const Trouble& trouble);
void openai_limits(WireReply& reply, const Admission& admission);

}  // namespace millrace::test
