// Objects in buckets and signed URLs for clients of Supabase, each under the caller's own role.
#include "rest_world.h"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RestStorage : public RestTest {};

TEST_F(RestStorage, AnObjectIsStoredReadListedAndRemovedByItsOwnerAlone) {  // T-04
  const auto ada = person();
  const auto eve = person();
  const auto path = fmt::format("exports/{}/sub/a%20file.json", ada.id);
  const auto made = ask("POST", "/storage/v1/object/" + path, ada.token, R"({"n":1})");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(text(made, "Key"), fmt::format("exports/{}/sub/a file.json", ada.id));
  const auto again = ask("POST", "/storage/v1/object/" + path, ada.token, R"({"n":2})");
  EXPECT_EQ(again.status, 400);
  EXPECT_EQ(text(again, "statusCode"), "409");
  EXPECT_EQ(text(again, "error"), "Duplicate");
  EXPECT_EQ(ask("PUT", "/storage/v1/object/" + path, ada.token, R"({"n":3})").status, 200);
  const auto read = ask("GET", "/storage/v1/object/" + path, ada.token);
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body, R"({"n":3})");
  const auto range = ask("GET", "/storage/v1/object/authenticated/" + path, ada.token, {},
                         {{"Range", "bytes=1-3"}});
  EXPECT_EQ(range.status, 206);
  EXPECT_EQ(range.body, "\"n\"");
  for (const auto& token : {eve.token, world().jwt(Role::service_role, world().new_tenant())}) {
    const auto other = ask("GET", "/storage/v1/object/" + path, token);
    EXPECT_EQ(other.status, 400);
    EXPECT_EQ(text(other, "statusCode"), "404");
    EXPECT_EQ(ask("DELETE", "/storage/v1/object/exports", token,
                  fmt::format(R"({{"prefixes":["{}"]}})", ada.file("sub/a file.json")))
                  .body,
              "[]");
  }
  const auto listed = ask("POST", "/storage/v1/object/list/exports", ada.token,
                          fmt::format(R"({{"prefix":"{}"}})", ada.id));
  ASSERT_EQ(listed.json().as_array().size(), 1U) << listed.body;
  EXPECT_EQ(listed.json().as_array()[0].at("name"), json::Value("sub"));
  EXPECT_EQ(ask("POST", "/storage/v1/object/list/exports", eve.token,
                fmt::format(R"({{"prefix":"{}"}})", ada.id))
                .body,
            "[]");
  const auto removed = ask("DELETE", "/storage/v1/object/exports", ada.token,
                           fmt::format(R"({{"prefixes":["{}"]}})", ada.file("sub/a file.json")));
  EXPECT_EQ(removed.json().as_array().size(), 1U) << removed.body;
  EXPECT_EQ(text(ask("GET", "/storage/v1/object/" + path, ada.token), "statusCode"), "404");
}

TEST_F(RestStorage, TheBucketsAreThoseThatExistFromTheStart) {
  const auto ada = person();
  const auto all = ask("GET", "/storage/v1/bucket", ada.token);
  ASSERT_EQ(all.status, 200) << all.body;
  ASSERT_EQ(all.json().as_array().size(), 2U) << all.body;
  EXPECT_EQ(all.json().as_array()[0].at("id"), json::Value("exports"));
  EXPECT_EQ(all.json().as_array()[1].at("id"), json::Value("medical-docs"));
  const auto one =
      ask("GET", "/storage/v1/bucket/exports", world().jwt(Role::service_role, tenant_));
  EXPECT_EQ(one.status, 200) << one.body;
  EXPECT_EQ(one.json().at("public"), json::Value(false));
  EXPECT_EQ(text(ask("GET", "/storage/v1/bucket/none", ada.token), "code"), "NoSuchBucket");
}

TEST_F(RestStorage, NamesOutsideTheOwnFolderAndStrangeNamesAreRefused) {  // T-04
  const auto ada = person();
  const auto eve = person();
  const auto post = [&](const std::string& path) {
    return ask("POST", "/storage/v1/object/" + path, ada.token, "{}");
  };
  const auto foreign = post(fmt::format("exports/{}/a.pdf", eve.id));
  EXPECT_EQ(text(foreign, "statusCode"), "403") << foreign.body;
  EXPECT_EQ(text(foreign, "code"), "AccessDenied");
  EXPECT_EQ(text(post(fmt::format("exports/{}/caf%C3%A9.pdf", ada.id)), "code"), "InvalidKey");
  EXPECT_EQ(text(post(fmt::format("exports/{}//a.pdf", ada.id)), "code"), "InvalidKey");
  EXPECT_EQ(text(post(fmt::format("no-such-bucket/{}/a.pdf", ada.id)), "code"), "NoSuchBucket");
  // Refused before anybody looks which operation it might be.
  http::RawClient client(world().address());
  client.send(
      ApiWorld::bytes_of({.method = "POST",
                          .path = fmt::format("/storage/v1/object/exports/{}/%2e%2e/a.pdf", ada.id),
                          .token = ada.token,
                          .body = "{}"}));
  EXPECT_EQ(client.read_reply().status, 400);
  EXPECT_EQ(ask("POST", fmt::format("/storage/v1/object/exports/{}/a.pdf", ada.id),
                world().jwt(Role::anon), "{}")
                .status,
            403);
}

TEST_F(RestStorage, ASignedUrlOpensOneObjectForWhoeverHasItAndIsNeverLogged) {  // T-13, I11
  const auto ada = person();
  ASSERT_EQ(upload(ada, "a.pdf", R"({"n":1})", "exports").status, 200);
  ASSERT_EQ(upload(ada, "b.pdf", R"({"n":2})", "exports").status, 200);
  const auto sign = fmt::format("/storage/v1/object/sign/exports/{}", ada.file("a.pdf"));
  const auto made = ask("POST", sign, ada.token, R"({"expiresIn":3600})");
  ASSERT_EQ(made.status, 200) << made.body;
  const auto url = text(made, "signedURL");
  const auto token = url.substr(url.find("token="));
  const auto opened = ask("GET", "/storage/v1" + url, "");
  EXPECT_EQ(opened.status, 200);
  EXPECT_EQ(opened.body, R"({"n":1})");
  const auto other = ask(
      "GET", fmt::format("/storage/v1/object/sign/exports/{}?{}", ada.file("b.pdf"), token), "");
  EXPECT_EQ(other.status, 400);
  EXPECT_EQ(text(ask("POST", sign, person().token, R"({"expiresIn":3600})"), "statusCode"), "404");
  EXPECT_THAT(world().program().err(), Not(HasSubstr(token.substr(6, 40))));
}

TEST_F(RestStorage, NamesThatPeopleGaveAreInNoLog) {  // T-08
  const auto ada = person();
  const auto path = fmt::format("medical-docs/{}/1_Lovelace_biopsy.pdf", ada.id);
  ASSERT_EQ(ask("POST", "/storage/v1/object/" + path, ada.token, "{}").status, 200);
  ASSERT_EQ(upsert(ada, ada.file("1_Lovelace_biopsy.pdf"), "Lovelace-key").status, 201);
  EXPECT_EQ(ask("GET", "/rest/v1/shell_files?file_name=eq.Lovelace_biopsy.pdf", ada.token).status,
            200);
  EXPECT_EQ(ask("GET", "/storage/v1/object/" + path, ada.token).status, 200);
  // The line of a request is written behind its answer.
  ASSERT_TRUE(eventually([&] {
    return world().program().err().contains(R"("method":"GET","route":"/storage/v1/object/)");
  }));
  EXPECT_THAT(world().program().err(), Not(HasSubstr("Lovelace")));
}

TEST_F(RestStorage,
       WhatAServiceStoresForAUserTheUserFinds) {  // X-17: the worker uploads, the user downloads
  const auto ada = person();
  const auto service = world().jwt(Role::service_role, tenant_);
  const auto path = fmt::format("exports/{}/{}_1.pdf", ada.id, kDocument);
  ASSERT_EQ(ask("POST", "/storage/v1/object/" + path, service, "{}").status, 200);
  EXPECT_EQ(ask("GET", "/storage/v1/object/" + path, ada.token).status, 200);
  const auto info = ask("GET", "/storage/v1/object/info/" + path, ada.token);
  EXPECT_EQ(info.status, 200) << info.body;
  EXPECT_THAT(info.body, Not(HasSubstr("store_key")));
  EXPECT_THAT(text(info, "etag"), StartsWith("\""));
}

}  // namespace
}  // namespace millrace::test
