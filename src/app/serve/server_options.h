// The HTTP server's options as the settings have them.
#pragma once

#include "api/pipeline.h"
#include "app/config/settings.h"
#include "http/server.h"

#include <cstddef>
#include <string>

namespace millrace::app {

// invalid_argument names the setting.
Result<http::ServerOptions> server_options(const Settings& settings);
api::PipelineOptions pipeline_options(const Settings& settings);
std::size_t server_threads(const Settings& settings);

// "http://127.0.0.1:8080" of the first TCP address; an address that stands for all becomes
// loopback. Without one: "unix:/path".
std::string http_url(const std::vector<http::ListenAddress>& endpoints, bool tls);

}  // namespace millrace::app
