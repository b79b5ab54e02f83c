// Operations on tokens and API keys.
#pragma once

#include "api/credential_maker.h"
#include "api/operation.h"
#include "store/api/tokens.h"

#include <vector>

namespace millrace::api {

// Store and maker outlive them.
std::vector<Operation> token_operations(store::TokenStore& tokens, const CredentialMaker& maker);

}  // namespace millrace::api
