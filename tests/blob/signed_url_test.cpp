// Signed URLs: good for one blob, for reading, for a while, and for nothing else.
#include "blob/digest.h"
#include "blob/url.h"
#include "conformance.h"
#include "support/must.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace millrace::test {
namespace {

using namespace blob;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;

// A URL as its path and its parameters, still encoded.
struct Taken {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;

  explicit Taken(const std::string& url) {
    const auto mark = url.find('?');
    path = url.substr(0, mark);
    for (auto rest = url.substr(mark + 1); !rest.empty();) {
      const auto end = std::min(rest.find('&'), rest.size());
      const auto equals = rest.find('=');
      parameters.emplace_back(rest.substr(0, equals), rest.substr(equals + 1, end - equals - 1));
      rest.erase(0, end + 1);
    }
  }
  std::string url() const {
    std::string query;
    for (const auto& [name, value] : parameters) {
      query += (query.empty() ? "?" : "&") + name + "=" + value;
    }
    return path + query;
  }
};

class BlobUrls : public BlobConformance {
 protected:
  std::string url_for(const BlobKey& key, SignOptions options = {}) {
    const auto url = must(run(store().signed_url(key, std::move(options))));
    return url.value().url.reveal();
  }
  void expect_refused(const std::string& url, const std::string& why) {
    const auto answer = fetch(url);
    EXPECT_THAT(answer.status, AllOf(Ge(400), Lt(500)))
        << why << ": " << answer.body.substr(0, 200);
    EXPECT_THAT(answer.body, Not(HasSubstr("the secret content"))) << why;
  }

  const std::string text_ = "the secret content";
};

TEST_P(BlobUrls, AreFollowedWithoutCredentialsUntilTheTimeTold) {
  const auto key = must(put(text_)).key;
  const auto before = ground_.clock.wall();
  const auto url = must(run(store().signed_url(key, {.ttl = 120s}))).value();
  EXPECT_GE(url.expires_at, before + 118s);
  EXPECT_LE(url.expires_at, ground_.clock.wall() + 120s);
  const auto answer = fetch(url.url.reveal());
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body, text_);
}

TEST_P(BlobUrls, SayWhatTheContentIsCalled) {
  const auto key = must(put(text_, {.content_type = "text/plain"})).key;
  const auto answer = fetch(url_for(key, {.file_name = "Report \xC3\xA4.pdf"}));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(std::string(answer.header("Content-Disposition").value_or("")),
              AllOf(HasSubstr("attachment"), HasSubstr("filename*=UTF-8''Report%20%C3%A4.pdf")));
  EXPECT_EQ(answer.header("Content-Type"), "text/plain");
}

// I11: a URL dies by itself.
TEST_P(BlobUrls, Expire) {
  const auto key = must(put(text_)).key;
  expect_refused(world_->expired_url(key), "expired");
}

TEST_P(BlobUrls, OfNoTimeOrTooLongAreNotMade) {
  const auto key = must(put(text_)).key;
  for (const auto ttl : {0s, -1s, std::chrono::seconds(8 * 24h)}) {
    EXPECT_EQ(run(store().signed_url(key, {.ttl = ttl})).error().kind, ErrorKind::invalid_argument);
  }
}

TEST(BlobUrlsOfTheFilesystem, AreNotItsOwn_Filesystem) {
  Ground ground;
  const auto world = make_world(Backend::filesystem, ground);
  EXPECT_EQ(must(run_blocking(ground.io, world->store().signed_url({sha256("x")}, {}))),
            std::nullopt);
}

// ---- servers that check signatures

class BlobUrlsChecked : public BlobUrls {};

// Every other value of the same length that differs in one place, for a few places.
std::vector<std::string> altered(const std::string& value) {
  std::vector<std::string> values = {"", value + "1", "0" + value};
  for (const std::size_t place : {std::size_t{0}, value.size() / 2, value.size() - 1}) {
    if (place >= value.size()) continue;
    auto other = value;
    other[place] = other[place] == '1' ? '2' : '1';
    values.push_back(other);
  }
  return values;
}

TEST_P(BlobUrlsChecked, CannotBeWidenedByAnyParameter) {
  const auto key = must(put(text_)).key;
  const Taken good(url_for(
      key, GetParam() == Backend::supabase
               ? SignOptions{.ttl = 60s}
               : SignOptions{.ttl = 60s, .content_type = "text/html", .file_name = "a.pdf"}));
  ASSERT_EQ(fetch(good.url()).status, 200);
  for (std::size_t i = 0; i < good.parameters.size(); ++i) {
    const auto& [name, value] = good.parameters[i];
    auto without = good;
    without.parameters.erase(without.parameters.begin() + static_cast<std::ptrdiff_t>(i));
    expect_refused(without.url(), "without " + name);
    for (const auto& other : altered(value)) {
      auto changed = good;
      changed.parameters[i].second = other;
      expect_refused(changed.url(), name + "=" + other);
    }
  }
}

TEST_P(BlobUrlsChecked, AreGoodForOneBlobOnly) {
  const auto key = must(put("something for everybody")).key;
  const auto secret = must(put(text_)).key;
  auto url = url_for(key);
  const auto hex = key.sha256.hex();
  const auto other = secret.sha256.hex();
  url.replace(url.find(key.text()), key.text().size(), secret.text());
  expect_refused(url, "another blob");
}

TEST_P(BlobUrlsChecked, AreGoodForReadingOnly) {
  const auto key = must(put(text_)).key;
  const auto url = url_for(key);
  for (const std::string method : {"PUT", "DELETE", "POST"}) {
    http::Request request{.method = method, .url = url};
    if (method == "PUT") request.headers = {{"x-ms-blob-type", "BlockBlob"}};
    const auto answer = must(run(ground_.client.send(std::move(request))));
    EXPECT_THAT(answer.status, AllOf(Ge(400), Lt(500))) << method << ": " << answer.body;
  }
  EXPECT_EQ(must(get(key)), text_);
}

// Parameters that widen what was signed, and not only break it.
class BlobUrlsOfAzure : public BlobUrls {};

TEST_P(BlobUrlsOfAzure, CannotBeGivenMoreRightsOrTime) {
  const auto key = must(put(text_)).key;
  const Taken good(url_for(key, {.ttl = 60s}));
  const std::pair<std::string, std::string> wider[] = {{"sp", "rw"},
                                                       {"sp", "racwdxlt"},
                                                       {"se", "2099-01-01T00%3A00%3A00Z"},
                                                       {"sr", "c"},
                                                       {"st", "2000-01-01T00%3A00%3A00Z"},
                                                       {"sv", "2020-12-06"},
                                                       {"sv", "2015-04-05"},
                                                       {"spr", "https%2Chttp"},
                                                       {"rsct", "text%2Fhtml"},
                                                       {"rscd", "inline"},
                                                       {"si", "policy"}};
  for (const auto& [name, value] : wider) {
    auto changed = good;
    const auto found =
        std::ranges::find(changed.parameters, name, &std::pair<std::string, std::string>::first);
    if (found == changed.parameters.end()) {
      changed.parameters.emplace_back(name, value);
    } else {
      found->second = value;
    }
    expect_refused(changed.url(), name + "=" + value);
  }
}

constexpr auto kName = [](const auto& info) { return to_string(info.param); };
using testing::Values;
using enum Backend;

INSTANTIATE_TEST_SUITE_P(All, BlobUrls, Values(azurite, s3rver, supabase, versitygw), kName);
INSTANTIATE_TEST_SUITE_P(All, BlobUrlsChecked, Values(azurite, supabase, versitygw), kName);
INSTANTIATE_TEST_SUITE_P(All, BlobUrlsOfAzure, Values(azurite), kName);

}  // namespace
}  // namespace millrace::test
