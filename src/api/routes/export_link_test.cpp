#include "api/routes/export_link.h"

#include "api/api_fixture.h"
#include "api/storage/storage_fixture.h"
#include "identity/base64url.h"

#include <gmock/gmock.h>

#include <chrono>
#include <vector>

namespace millrace::api {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kPath = "user/a file.pdf";

// Has URLs of its own, and knows of expiry what it is told.
class SigningBlobs final : public TextBlobs {
 public:
  Task<std::optional<blob::SignedUrl>> signed_url(blob::BlobKey,
                                                  blob::SignOptions options) override {
    MR_CO_TRY_VOID(blob::check_options(options));  // As every store does.
    told.push_back(options.ttl);
    names.push_back(options.file_name);
    co_return blob::SignedUrl{.url = Secret<std::string>("https://store/signed"), .expires_at = {}};
  }
  std::vector<std::chrono::seconds> told;
  std::vector<std::string> names;
};

class ExportLinks : public testing::Test {
 protected:
  Result<ExportLink> link(blob::BlobStore& blobs, std::optional<std::chrono::seconds> left,
                          std::string name = "CV.pdf") {
    files_.expires_in = left;
    return run_blocking(export_link(LinkParts{.files = files_, .blobs = blobs, .links = links_},
                                    {.context = {}, .caller = {}, .base = "https://host"}, kPath,
                                    std::move(name)));
  }

  ManualClock clock_;
  FakeFiles files_;
  TextBlobs own_;
  SigningBlobs signing_;
  MemoryDirectory directory_;
  MemoryPolicies policies_;
  identity::TicketMaker tickets_ =
      *identity::TicketMaker::make({Secret<std::string>(identity::kTestSecret)}, clock_);
  SignedLinks links_{
      {.tickets = tickets_, .directory = directory_, .policies = policies_, .clock = clock_}, ""};
};

// an hour, but nobody gets a link that opens what has expired: the store that signs it has
// the bytes until they are swept.
TEST_F(ExportLinks, x07_ALinkOfTheStoreEndsWithItsFile) {
  EXPECT_EQ(link(signing_, std::nullopt)->ttl, 3600s) << "of a worker that keeps no history";
  EXPECT_EQ(link(signing_, std::chrono::days(7))->ttl, 3600s);
  EXPECT_EQ(link(signing_, 90s)->ttl, 90s);
  EXPECT_THAT(signing_.told, ElementsAre(3600s, 3600s, 90s));
  const auto none = link(signing_, 0s);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::not_found);
  EXPECT_EQ(signing_.told.size(), 3U);
}

// a title may have more bytes than stores take for a name, and what no file name has.
TEST_F(ExportLinks, x08_AnyTitleIsTheNameOfALink) {
  for (const auto& title : {std::string(512, 'x'), std::string("2025/26 \\ a")}) {
    const auto made = link(signing_, std::nullopt, title + ".pdf");
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE(link(own_, std::nullopt, title + ".pdf"));
  }
  EXPECT_THAT(signing_.names, ElementsAre(std::string(251, 'x') + ".pdf", "2025_26 _ a.pdf"));
}

TEST_F(ExportLinks, x07_ALinkOfTheServerEndsWithItsFile) {
  const auto made = link(own_, 90s);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->url,
              HasSubstr("https://host/api/v1/export/file/user/a%20file.pdf?token=mru1_"));
  const auto ticket = made->url.substr(made->url.find("token=") + 6);
  const auto opens = [&] {
    return tickets_
        .open_url_ticket(ticket, identity::UrlOperation::download, export_resource(kPath))
        .has_value();
  };
  clock_.set_wall(clock_.wall() + 89s);
  EXPECT_TRUE(opens());
  clock_.set_wall(clock_.wall() + 1s);
  EXPECT_FALSE(opens());
}

}  // namespace
}  // namespace millrace::api
