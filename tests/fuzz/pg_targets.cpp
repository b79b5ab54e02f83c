#include "app/config/mask_url.h"
#include "app/config/settings.h"
#include "fuzz/rows.h"
#include "fuzz/targets.h"
#include "pg/conninfo.h"
#include "pg/errors.h"
#include "pg/params.h"
#include "pg/result_set.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace millrace::fuzz {
namespace {

struct Free {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

// What libpq itself makes of a URL: the values of passwords, and of everything else.
struct Opinion {
  bool readable = false;
  std::string passwords;
  std::string others;
};

Opinion ask_libpq(const std::string& url) {
  Opinion opinion;
  if (url.contains('\0')) return opinion;
  const std::unique_ptr<PQconninfoOption, Free> parsed(PQconninfoParse(url.c_str(), nullptr));
  opinion.readable = parsed != nullptr;
  for (const auto* option = parsed.get(); option != nullptr && option->keyword != nullptr;
       ++option) {
    if (option->val == nullptr) continue;
    const bool secret = std::string_view(option->keyword).ends_with("password");
    (secret ? opinion.passwords : opinion.others) += std::string(option->val) + "\n";
  }
  return opinion;
}

void check_hosts(const pg::ConnInfo& info) {
  property(!info.hosts.empty(), "there is a host to try");
  property(!info.session_passes.empty(), "there is a kind of session to try");
  for (const auto* keyword : {"host", "hostaddr", "port", "target_session_attrs"}) {
    property(!info.keywords.contains(keyword), "hosts are taken out of the keywords", keyword);
  }
  for (const auto& host : info.hosts) {
    property(!host.host.contains(','), "a list of hosts is taken apart", host.host);
    property(host.hostaddr.empty() || !pg::needs_lookup(host), "an address is not looked up");
  }
}

}  // namespace

// The text with a password put in where it says "~": it must show up nowhere.
void fuzz_conninfo(Input input) {
  std::string url(input);
  for (auto at = url.find('~'); at != url.npos; at = url.find('~', at + kSecret.size())) {
    url.replace(at, 1, kSecret);
  }
  const auto info = pg::parse_conninfo(pg::connect_options(url));
  const auto opinion = ask_libpq(url);
  if (info) {
    check_hosts(*info);
    property(opinion.readable, "libpq reads what we read");
  } else {
    check_told(info.error());
    property(!info.error().message.contains(kSecret), "an error shows no part of the URL",
             info.error().message);
  }
  const auto shown = app::mask_url(url);
  // Said once, so that no later value of the same keyword hides where it stood.
  if (std::ranges::count(input, '~') == 1 && opinion.passwords.contains(kSecret)) {
    property(!shown.contains(kSecret), "a password is not shown", shown);
  }
  property(app::mask_url(shown) == shown, "what is masked stays as it is", shown);
  property(
      shown.size() <= url.size() + 3 * (1 + static_cast<std::size_t>(std::ranges::count(url, '='))),
      "masking adds nothing else", shown);
  check_linear(input, [](std::string_view text) {
    static_cast<void>(pg::parse_conninfo(pg::connect_options(std::string(text))));
    static_cast<void>(app::mask_url(text));
  });
}

namespace {

pg::ResultSet row_of(const std::vector<std::optional<std::string>>& values) {
  std::vector<Column> columns;
  for (const auto& value : values) {
    columns.push_back({.name = fmt::format("c{}", columns.size()), .value = value});
  }
  return make_row(columns);
}

// Reading a value as any type gives it or says, with RowError, that it is none.
void check_reads(const std::string& text) {
  const auto set = row_of({text, std::nullopt});
  const auto row = set[0];
  property(row.text(0) == text, "a text is itself");
  property(row.is_null(1), "null is null");
  property(!row.opt_text(1), "null is nothing");
  const auto attempt = [&](const auto& read) {
    try {
      read();
    } catch (const pg::RowError& error) {
      property(std::string_view(error.what()).size() < 200, "a RowError is short", error.what());
    }
  };
  attempt([&] {
    const auto value = row.i64(0);
    property(row_of({fmt::format("{}", value)})[0].i64(0) == value, "a number is itself");
  });
  attempt([&] { static_cast<void>(row.i32(0)); });
  attempt([&] { static_cast<void>(row.f64(0)); });
  attempt([&] { static_cast<void>(row.boolean(0)); });
  attempt([&] { static_cast<void>(row.uuid(0)); });
  attempt([&] { static_cast<void>(row.text_array(0)); });
  attempt([&] { static_cast<void>(row.text("no such column")); });
}

}  // namespace

void fuzz_arrays(Input input) {
  check_reads(std::string(input));
  const auto words = take_lines(input);
  const bool sendable = !input.contains('\0');
  pg::Params params;
  params.add_null().add_array(words).add(input);
  property(params.problem().has_value() != sendable, "a NUL byte is noticed");
  if (sendable) {
    const auto set = row_of({std::string(params.text(1))});
    property(set[0].text_array(0) == words, "an array is read as it was written", params.text(1));
    property(params.text(2) == input, "a text is sent as it is");
  }
  const auto line = pg::first_line(input);
  property(!line.contains('\n'), "the first line is one line", line);
  const auto kind = pg::kind_of_sqlstate(input);
  property(input.size() == 5 || kind == ErrorKind::internal, "a SQLSTATE has five characters");
  check_linear(input, [](std::string_view text) {
    const auto set = row_of({fmt::format("{{{}}}", text)});
    try {
      static_cast<void>(set[0].text_array(0));
    } catch (const pg::RowError&) {
      return;
    }
  });
}

}  // namespace millrace::fuzz
