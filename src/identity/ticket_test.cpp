#include "identity/ticket.h"

#include "base/run.h"
#include "identity/base64url.h"
#include "identity/digest.h"
#include "identity/refusal_matcher.h"
#include "identity/test_keys.h"
#include "identity/token_maker.h"
#include "identity/token_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;

const TenantId kTenant = *TenantId::parse("22222222-2222-4222-8222-222222222222");
const std::string kUser = "11111111-1111-4111-8111-111111111111";
const std::string kStream = "jobs/0190-1";
const std::string kObject = "exports/a/b.pdf";

class Tickets : public testing::Test {
 protected:
  TicketMaker maker(std::vector<std::string> secrets = {kTestSecret}) {
    std::vector<Secret<std::string>> list;
    for (auto& secret : secrets) list.emplace_back(std::move(secret));
    auto made = TicketMaker::make(list, clock_);
    EXPECT_THAT(made, Accepted());
    return *std::move(made);
  }

  Instant in(std::chrono::milliseconds ahead) { return instant_of(clock_.wall()) + ahead; }

  StreamTicket stream() { return {.resource = kStream, .holder = holder_, .expires_at = in(5min)}; }
  UrlTicket url(UrlOperation operation = UrlOperation::download) {
    return {.operation = operation, .resource = kObject, .holder = holder_, .expires_at = in(5min)};
  }
  std::string stream_text() { return maker().make_ticket(stream())->reveal(); }
  std::string url_text() { return maker().make_ticket(url())->reveal(); }

  ManualClock clock_;
  TicketHolder holder_{
      .role = Role::authenticated, .tenant = kTenant, .subject = kUser, .token_id = "t1"};
};

TEST_F(Tickets, ForAStreamOpenThatStream) {
  const auto opened = maker().open_stream_ticket(stream_text(), kStream);
  ASSERT_THAT(opened, Accepted());
  EXPECT_EQ(opened->holder, holder_);
  EXPECT_EQ(opened->expires_at, stream().expires_at);
  const auto caller = opened->caller();
  EXPECT_EQ(caller.method, AuthMethod::stream_ticket);
  EXPECT_EQ(caller.tenant, kTenant);
  EXPECT_EQ(caller.user, *UserId::parse(kUser));
  EXPECT_EQ(caller.token_id, "t1");
  EXPECT_EQ(caller.capabilities, CapabilitySet{Capability::read});
  EXPECT_EQ(
      caller.claims_json(),
      R"({"role":"authenticated","sub":")" + kUser +
          R"(","app_metadata":{"tenant_id":"22222222-2222-4222-8222-222222222222"},"jti":"t1"})");
}

TEST_F(Tickets, ForADownloadSayWhatItIsCalled) {  // X-08
  auto named = url();
  named.file_name = "Lebenslauf für Ärzte.pdf";
  const auto text = maker().make_ticket(named)->reveal();
  const auto opened = maker().open_url_ticket(text, UrlOperation::download, kObject);
  ASSERT_THAT(opened, Accepted());
  EXPECT_EQ(opened->file_name, "Lebenslauf für Ärzte.pdf");
}

TEST_F(Tickets, ForAUrlOpenThatObjectForThatOperation) {
  auto upload = url(UrlOperation::upload);
  upload.may_replace = true;
  const auto text = maker().make_ticket(upload)->reveal();
  const auto opened = maker().open_url_ticket(text, UrlOperation::upload, kObject);
  ASSERT_THAT(opened, Accepted());
  EXPECT_TRUE(opened->may_replace);
  EXPECT_EQ(opened->caller().capabilities, CapabilitySet{Capability::write});
  EXPECT_EQ(opened->caller().method, AuthMethod::url_ticket);
  const auto read = maker().open_url_ticket(url_text(), UrlOperation::download, kObject);
  ASSERT_THAT(read, Accepted());
  EXPECT_FALSE(read->may_replace);
  EXPECT_EQ(read->caller().capabilities, CapabilitySet{Capability::read});
}

// T-13: time-limited.
TEST_F(Tickets, Expire) {
  const auto text = stream_text();
  clock_.advance(5min - 1ms);
  EXPECT_THAT(maker().open_stream_ticket(text, kStream), Accepted());
  clock_.advance(1ms);
  EXPECT_THAT(maker().open_stream_ticket(text, kStream), RefusedAs(Refusal::expired));
}

TEST_F(Tickets, CannotBeWidened) {
  const auto text = url_text();
  for (const auto* other : {"exports/a/b.pdf2", "exports/a", "exports/", "", "EXPORTS/a/b.pdf",
                            "exports/a/../a/b.pdf", "medical-docs/a/b.pdf"}) {
    EXPECT_THAT(maker().open_url_ticket(text, UrlOperation::download, other),
                RefusedAs(Refusal::wrong_resource))
        << other;
  }
  EXPECT_THAT(maker().open_url_ticket(text, UrlOperation::upload, kObject),
              RefusedAs(Refusal::wrong_resource));
  EXPECT_THAT(maker().open_stream_ticket(stream_text(), "jobs/0190-12"),
              RefusedAs(Refusal::wrong_resource));
}

TEST_F(Tickets, OfOneKindAreNothingInThePlaceOfAnother) {
  auto as_stream = url_text();
  EXPECT_THAT(maker().open_stream_ticket(as_stream, kObject), RefusedAs(Refusal::malformed));
  as_stream.replace(0, 4, "mrs1");
  EXPECT_THAT(maker().open_stream_ticket(as_stream, kObject), RefusedAs(Refusal::bad_signature));
  auto as_url = stream_text();
  as_url.replace(0, 4, "mru1");
  EXPECT_THAT(maker().open_url_ticket(as_url, UrlOperation::download, kStream),
              RefusedAs(Refusal::bad_signature));
}

TEST_F(Tickets, AreNoTokensAndTokensAreNoTickets) {
  SeededRandom random(1);
  const auto token = TokenMaker::make({.secret = Secret(kTestSecret)}, clock_, random)
                         ->make_token({.role = Role::service_role})
                         ->token.reveal();
  EXPECT_THAT(maker().open_stream_ticket(token, kStream), RefusedAs(Refusal::malformed));
  KeySet keys;
  ASSERT_THAT(keys.add(*VerifyKey::from_secret(Secret(kTestSecret))), Accepted());
  const auto verifier = TokenVerifier::make({.keys = std::move(keys)}, clock_);
  EXPECT_THAT(run_blocking(verifier->verify(stream_text())), RefusedAs(Refusal::malformed));
}

// The derived keys differ from the secret: whoever signs tickets with the secret itself fails.
TEST_F(Tickets, AreNotSignedWithTheSecretItself) {
  const auto text = stream_text();
  const auto sealed = text.substr(0, text.find('.'));
  const auto forged = sealed + "." + base64url_encode(bytes_of(hmac_sha256(kTestSecret, sealed)));
  EXPECT_THAT(maker().open_stream_ticket(forged, kStream), RefusedAs(Refusal::bad_signature));
}

// Whoever could sign tickets for streams could still make no links.
TEST_F(Tickets, HaveAKeyPerPurpose) {
  const auto key =
      hkdf_sha256({.secret = kTestSecret, .salt = "millrace ticket", .info = "stream v1"}, 32);
  const auto signed_again = [&](const std::string& text) {
    const auto sealed = text.substr(0, text.find('.'));
    return sealed + "." + base64url_encode(bytes_of(hmac_sha256(key, sealed)));
  };
  EXPECT_THAT(maker().open_stream_ticket(signed_again(stream_text()), kStream), Accepted());
  EXPECT_THAT(maker().open_url_ticket(signed_again(url_text()), UrlOperation::download, kObject),
              RefusedAs(Refusal::bad_signature));
}

TEST_F(Tickets, AreRefusedWithAnyByteAltered) {
  const auto text = stream_text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto altered = text;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(maker().open_stream_ticket(altered, kStream).has_value()) << i;
    EXPECT_FALSE(maker().open_stream_ticket(text.substr(0, i), kStream).has_value()) << i;
  }
  for (const auto& odd : {text + "=", text + ".", " " + text, text + text, std::string("mrs1_."),
                          std::string("mrs1_"), std::string(100'000, 'x')}) {
    EXPECT_FALSE(maker().open_stream_ticket(odd, kStream).has_value());
  }
}

TEST_F(Tickets, SurviveTheReplacementOfTheSecret) {
  const auto old_text = stream_text();
  const auto rotated = maker({kOtherSecret, kTestSecret});
  EXPECT_THAT(rotated.open_stream_ticket(old_text, kStream), Accepted());
  const auto new_text = rotated.make_ticket(stream())->reveal();
  EXPECT_THAT(maker({kOtherSecret}).open_stream_ticket(new_text, kStream), Accepted());
  EXPECT_THAT(maker({kOtherSecret}).open_stream_ticket(old_text, kStream),
              RefusedAs(Refusal::bad_signature));
}

// A stream outlives its ticket, not the token that the ticket was made with.
TEST_F(Tickets, CarryTheEndOfTheTokenTheyWereMadeWith) {
  auto ticket = stream();
  ticket.holder_expires_at = in(20min);
  const auto made = maker().make_ticket(ticket);
  ASSERT_THAT(made, Accepted());
  const auto opened = maker().open_stream_ticket(made->reveal(), kStream);
  ASSERT_THAT(opened, Accepted());
  EXPECT_EQ(opened->caller().expires_at, in(20min));
  const auto endless = maker().open_stream_ticket(stream_text(), kStream);
  ASSERT_THAT(endless, Accepted());
  EXPECT_EQ(endless->caller().expires_at, std::nullopt);
}

TEST_F(Tickets, AreMadeForAShortTimeOnly) {
  auto ticket = stream();
  for (const auto ahead : {std::chrono::milliseconds(0), std::chrono::milliseconds(-1s),
                           std::chrono::milliseconds(kStreamTicketTtlMax + 1ms)}) {
    ticket.expires_at = in(ahead);
    EXPECT_THAT(maker().make_ticket(ticket), Invalid("up to 3600 seconds"));
  }
  ticket.expires_at = in(kStreamTicketTtlMax);
  EXPECT_THAT(maker().make_ticket(ticket), Accepted());
  auto link = url();
  link.expires_at = in(kUrlTicketTtlMax + 1s);
  EXPECT_THAT(maker().make_ticket(link), Invalid("604800"));
}

TEST_F(Tickets, AreMadeForSomethingOnly) {
  auto ticket = stream();
  ticket.resource = "";
  EXPECT_THAT(maker().make_ticket(ticket), Invalid("1 to 2048 bytes"));
  ticket.resource = std::string(kTicketResourceMaxBytes + 1, 'x');
  EXPECT_THAT(maker().make_ticket(ticket), Invalid("1 to 2048 bytes"));
}

TEST_F(Tickets, NeedAStrongSecret) {
  EXPECT_THAT(TicketMaker::make({}, clock_), Invalid("secret"));
  EXPECT_THAT(TicketMaker::make({Secret(kTestSecret), Secret(std::string("weak"))}, clock_),
              Invalid("32 to 4096"));
}

TEST_F(Tickets, FitIntoAQueryAsTheyAre) {
  EXPECT_THAT(url_text(), testing::MatchesRegex("mru1_[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+"));
}

TEST_F(Tickets, AreMadeForTheCallerWhoAsks) {
  Caller caller{
      .role = Role::service_role, .tenant = std::nullopt, .subject = "s", .token_id = "j"};
  EXPECT_EQ(holder_of(caller),
            (TicketHolder{.role = Role::service_role, .subject = "s", .token_id = "j"}));
  holder_ = holder_of(caller);
  const auto opened = maker().open_stream_ticket(stream_text(), kStream);
  ASSERT_THAT(opened, Accepted());
  EXPECT_EQ(opened->caller().tenant, std::nullopt);
  EXPECT_FALSE(opened->caller().may(Capability::impersonate_tenant));
}

}  // namespace
}  // namespace millrace::identity
