// The message of a parser and its signature: W-01 to W-04, W-10, H01, H04.
#include "api/webhook/callback.h"
#include "api/webhook/parser_message.h"
#include "api/webhook/parser_signature.h"
#include "identity/digest.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millrace::api {
namespace {

using testing::HasSubstr;

const JobId kJob = *JobId::parse("0190a000-0000-7000-8000-000000000001");
const JobId kOther = *JobId::parse("0190a000-0000-7000-8000-000000000002");
const Secret<std::string> kMaster("a master secret that has at least 32 bytes");

json::Value json_of(std::string_view text) { return parse_json(text).value(); }

std::string signed_by(const std::string& key, std::string_view bytes) {
  return identity::to_hex(identity::hmac_sha256(key, bytes));
}

std::string with_job(std::string_view rest) {
  return R"({"job_id":")" + kJob.to_string() + "\"," + std::string(rest) + "}";
}

TEST(ParserMessage, TheFirstMarkdownWithContentCounts) {  // W-01
  const auto said = read_parser_message(json_of(with_job(
      R"("artifacts":[{"type":"json","content":"{}"},{"type":"markdown","content":""},
         {"type":"markdown","content":"# One"},{"type":"markdown","content":"# Two"}])")));
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->job, kJob);
  ASSERT_TRUE(std::holds_alternative<ParserArtifact>(said->result));
  EXPECT_EQ(std::get<ParserArtifact>(said->result).content, "# One");
}

TEST(ParserMessage, HashAndLengthMustBeThoseOfTheContent) {  // W-10, H04
  const auto hash = identity::to_hex(identity::sha256("# One"));
  const auto read = [&](const std::string& claims) {
    return read_parser_message(
        json_of(with_job(R"("artifacts":[{"type":"markdown","content":"# One",)" + claims + "}]")));
  };
  EXPECT_TRUE(read(R"("sha256":")" + hash + R"(","bytes":5)").has_value());
  EXPECT_TRUE(read(R"("sha256":null,"bytes":null)").has_value());
  EXPECT_THAT(read(R"("sha256":")" + std::string(64, 'a') + R"(","bytes":5)").error().message,
              HasSubstr("artifacts[0].sha256"));
  EXPECT_THAT(read(R"("sha256":")" + hash + R"(","bytes":6)").error().message,
              HasSubstr("artifacts[0].bytes"));
  EXPECT_FALSE(read(R"("sha256":7)").has_value());
  EXPECT_FALSE(read(R"("bytes":"5")").has_value());
}

TEST(ParserMessage, AFailureIsToldFromAMessageWithoutArtifacts) {  // W-09, H05
  const auto result = [](std::string_view rest) {
    return read_parser_message(json_of(with_job(rest))).value().result;
  };
  EXPECT_TRUE(std::holds_alternative<NoArtifact>(result(R"("artifacts":[])")));
  EXPECT_TRUE(std::holds_alternative<NoArtifact>(result(R"("artifacts":{"type":"markdown"})")));
  EXPECT_TRUE(std::holds_alternative<NoArtifact>(result(R"("status":"done","error":null)")));
  // Parsers that send every member have an error of nothing.
  for (const std::string empty : {"\"\"", "{}", "false", "[]", R"({"message":"","code":null})"}) {
    EXPECT_TRUE(std::holds_alternative<NoArtifact>(result("\"error\":" + empty))) << empty;
    EXPECT_TRUE(std::holds_alternative<NoArtifact>(
        result(R"("status":"done","artifacts":[{"type":"json","content":"{}"}],"error":)" + empty)))
        << empty;
    const auto torn = result(R"("status":"failed","error_message":"torn","error":)" + empty);
    ASSERT_TRUE(std::holds_alternative<ParserFailure>(torn)) << empty;
    EXPECT_EQ(std::get<ParserFailure>(torn).reason, "torn") << empty;
  }
  const auto failed = result(R"("status":"FAILED","error":"page 3\nis torn")");
  ASSERT_TRUE(std::holds_alternative<ParserFailure>(failed));
  EXPECT_EQ(std::get<ParserFailure>(failed).reason, "page 3 is torn");
  const auto nested = result(R"("artifacts":[],"error":{"message":"torn"})");
  EXPECT_EQ(std::get<ParserFailure>(nested).reason, "torn");
  EXPECT_EQ(std::get<ParserFailure>(result(R"("status":"error")")).reason,
            "the parser gave no reason");
}

TEST(ParserMessage, WithoutAJobThereIsNone) {
  for (const auto* text : {"{}", "[]", "null", R"({"job_id":7})", R"({"job_id":"x"})"}) {
    EXPECT_FALSE(job_of_message(json_of(text)).has_value()) << text;
    EXPECT_FALSE(read_parser_message(json_of(text)).has_value()) << text;
  }
}

// Which key a message must be signed with is found without reading it as JSON.
TEST(ParserMessage, TheJobIsFoundInTheBytes) {
  const auto named = [](const std::string& text) { return jobs_named_in(text); };
  const auto id = kJob.to_string();
  EXPECT_THAT(named(R"({"job_id":")" + id + "\"}"), testing::ElementsAre(kJob));
  EXPECT_THAT(named("{ \"job_id\" :\n \"" + id + "\" }"), testing::ElementsAre(kJob));
  EXPECT_THAT(
      named(R"({"meta":{"job_id":")" + kOther.to_string() + R"("},"job_id":")" + id + "\"}"),
      testing::ElementsAre(kOther, kJob));
  // Within a text it is quoted otherwise.
  EXPECT_THAT(named(R"({"content":"\"job_id\":\")" + id + R"(\""})"), testing::IsEmpty());
  for (const auto* text : {"", "\"job_id\"", "\"job_id\":", "\"job_id\":\"", "\"job_id\":7",
                           "\"job_id\":\"0190a000\""}) {
    EXPECT_THAT(named(text), testing::IsEmpty()) << text;
  }
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += R"("job_id":")" + id + "\",";
  EXPECT_EQ(named(many).size(), 1U);
}

class ParserSignature : public testing::Test {
 protected:
  bool fits(const ParserKeyOptions& options, JobId job, const std::string& raw,
            const std::string& signature) {
    const ParserKeys keys(options);
    return keys.fits(job, raw, signature) || keys.fits_canonical(job, json_of(raw), signature);
  }
  const std::string raw_ = with_job(R"("n": 1e2, "artifacts":[])");
};

TEST_F(ParserSignature, TheSecretOfAJobIsDerivedAsTheSourceDoes) {  // W-04
  EXPECT_EQ(job_secret(kMaster, kJob),
            signed_by(kMaster.reveal(), "0190a000-0000-7000-8000-000000000001"));
}

TEST_F(ParserSignature, CoversTheBytesAsTheyCame) {  // W-02, W-03, H01
  const ParserKeyOptions options{.masters = {kMaster}};
  const auto signature = signed_by(job_secret(kMaster, kJob), raw_);
  EXPECT_TRUE(fits(options, kJob, raw_, signature));
  for (std::size_t i = 0; i < raw_.size(); ++i) {
    auto altered = raw_;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_FALSE(ParserKeys(options).fits(kJob, altered, signature)) << i;
  }
  for (std::size_t i = 0; i < signature.size(); ++i) {
    auto altered = signature;
    altered[i] = altered[i] == '0' ? '1' : '0';
    EXPECT_FALSE(fits(options, kJob, raw_, altered)) << i;
  }
  EXPECT_FALSE(fits(options, kJob, raw_, ""));
  EXPECT_FALSE(fits(options, kJob, raw_, signature + "00"));
}

TEST_F(ParserSignature, TheSecretOfOneJobIsNothingForAnother) {  // H03, H04
  const ParserKeyOptions options{.masters = {kMaster}};
  EXPECT_FALSE(fits(options, kJob, raw_, signed_by(job_secret(kMaster, kOther), raw_)));
  EXPECT_FALSE(fits(options, kJob, raw_, signed_by(kMaster.reveal(), raw_)));
}

TEST_F(ParserSignature, OneSecretForAllCountsWhereItIsSet) {  // W-04
  const Secret<std::string> global("one secret for every job there is, of a parser");
  const auto signature = signed_by(global.reveal(), raw_);
  EXPECT_FALSE(fits({.masters = {kMaster}}, kJob, raw_, signature));
  EXPECT_TRUE(fits({.masters = {kMaster}, .global = global}, kJob, raw_, signature));
  EXPECT_TRUE(fits({.global = global}, kJob, raw_, signature));
}

TEST_F(ParserSignature, AMasterThatIsReplacedCountsUntilItIsTakenAway) {  // Rotation.
  const Secret<std::string> next("the master secret that comes after the first one");
  const auto by_old = signed_by(job_secret(kMaster, kJob), raw_);
  EXPECT_TRUE(fits({.masters = {next, kMaster}}, kJob, raw_, by_old));
  EXPECT_FALSE(fits({.masters = {next}}, kJob, raw_, by_old));
}

TEST_F(ParserSignature, TheSortedFormCountsWhereItIsSet) {  // W-03
  const std::string text =
      R"({ "job_id": "0190a000-0000-7000-8000-000000000001", "b": "\u00e9\ud83d\ude00/", "a": [1, 2.50, null] })";
  // As json.dumps(…, sort_keys=True, separators=(',', ':')) writes it.
  const std::string sorted =
      R"({"a":[1,2.5,null],"b":"\u00e9\ud83d\ude00/","job_id":"0190a000-0000-7000-8000-000000000001"})";
  EXPECT_EQ(sorted_ascii_json(json_of(text)), sorted);
  const auto signature = signed_by(job_secret(kMaster, kJob), sorted);
  EXPECT_FALSE(fits({.masters = {kMaster}}, kJob, text, signature));
  EXPECT_TRUE(fits({.masters = {kMaster}, .canonical_json = true}, kJob, text, signature));
  EXPECT_EQ(sorted_ascii_json(json_of("1e2")), "100.0");
}

TEST_F(ParserSignature, NoKeyFitsNothing) {
  EXPECT_FALSE(fits({}, kJob, raw_, signed_by("", raw_)));
}

TEST(Callback, CapabilitiesAreUnguessableAndKeptAsHashesOnly) {  // H03
  SystemRandom random;
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto capability = new_capability(random);
    EXPECT_EQ(capability.size(), 43U);
    EXPECT_TRUE(seen.insert(capability).second);
  }
  EXPECT_EQ(capability_sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(callback_token(kMaster, "abc"), callback_token(kMaster, "abd"));
}

TEST(Callback, AnyEventOfAParseIsOneWhateverItIsCalled) {
  for (const auto* name : {"parse.success", "parse.error", "parse.partial_success", "parse.done",
                           "parse.failure", "parse.cancelled", "parse.running"}) {
    const auto event = read_callback(
        "", "", R"({"event_id":"e1","event_type":")" + std::string(name) + R"(","data":{}})");
    ASSERT_TRUE(event.has_value()) << name;
    EXPECT_EQ(event->id, "e1");
    EXPECT_EQ(event->type, name);
  }
  EXPECT_EQ(read_callback("e2", "parse.success", "not json")->id, "e2");
  EXPECT_FALSE(read_callback("e3", "extract.success", "{}").has_value());
  EXPECT_FALSE(read_callback("e3", "", "{}").has_value());
  EXPECT_EQ(read_callback("", "", R"({"event_id":"e4","event_type":"parse.done","file":"\ud83d"})")
                .value()
                .id,
            "e4");
}

TEST(Callback, WithoutAnIdTheBodyIsItsOwn) {
  const auto one = read_callback("", "parse.success", R"({"n":1})");
  const auto two = read_callback("", "parse.success", R"({"n":2})");
  ASSERT_TRUE(one && two);
  EXPECT_TRUE(one->id.starts_with("sha256:"));
  EXPECT_NE(one->id, two->id);
  EXPECT_EQ(read_callback(std::string(300, 'x'), "parse.success", R"({"n":1})")->id, one->id);
}

}  // namespace
}  // namespace millrace::api
