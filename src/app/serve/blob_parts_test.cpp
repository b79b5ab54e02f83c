// Settings of the blob store.
#include "app/serve/blob_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using testing::HasSubstr;

Settings settings_of(Environment environment) {
  Settings::Sources sources;
  sources.folder = "/nonexistent";
  sources.environment = std::move(environment);
  auto settings = Settings::load(sources);
  EXPECT_TRUE(settings) << settings.error().message;
  return *std::move(settings);
}

TEST(StoreOptions, KeepFilesInTheDataFolderUnlessToldOtherwise) {
  const auto usual = store_options(settings_of({{"MILLRACE_DATABASE_DATA_DIR", "/data"}}));
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_EQ(std::get<blob::FilesystemOptions>(*usual).root, "/data/blobs");
  const auto chosen = store_options(
      settings_of({{"MILLRACE_STORAGE_FOLDER", "/srv"}, {"MILLRACE_STORAGE_PREFIX", "a"}}));
  ASSERT_TRUE(chosen);
  EXPECT_EQ(std::get<blob::FilesystemOptions>(*chosen).root, "/srv");
  EXPECT_EQ(std::get<blob::FilesystemOptions>(*chosen).prefix, "a");
}

TEST(StoreOptions, TakeTheNamesThatOtherSystemsUse) {  // D-01, D-02
  const auto s3 = store_options(settings_of({{"MILLRACE_STORAGE_KIND", "s3"},
                                             {"MILLRACE_STORAGE_S3_BUCKET", "documents"},
                                             {"MILLRACE_STORAGE_S3_PATH_STYLE", "off"},
                                             {"AWS_REGION", "eu-central-1"},
                                             {"AWS_ACCESS_KEY_ID", "id"},
                                             {"AWS_SECRET_ACCESS_KEY", "secret"},
                                             {"MILLRACE_STORAGE_SPOOL_MAX", "1G"}}));
  ASSERT_TRUE(s3) << s3.error().message;
  const auto& options = std::get<blob::S3Options>(*s3);
  EXPECT_EQ(options.bucket, "documents");
  EXPECT_EQ(options.region, "eu-central-1");
  EXPECT_EQ(options.path_style, false);
  EXPECT_EQ(options.credentials.secret_access_key.reveal(), "secret");
  EXPECT_EQ(options.limits.spool_max_bytes, 1ULL << 30);
  const auto azure = store_options(settings_of({{"MILLRACE_STORAGE_KIND", "azure"},
                                                {"MILLRACE_STORAGE_AZURE_CONTAINER", "docs"},
                                                {"BLOB_ACCOUNT", "clinic"},
                                                {"BLOB_SAS_SIGNING", "a2V5"}}));
  ASSERT_TRUE(azure) << azure.error().message;
  EXPECT_EQ(std::get<blob::AzureOptions>(*azure).account, "clinic");
  const auto supabase = store_options(settings_of({{"MILLRACE_STORAGE_KIND", "supabase"},
                                                   {"MILLRACE_STORAGE_SUPABASE_BUCKET", "docs"},
                                                   {"SUPABASE_URL", "https://x.supabase.co"},
                                                   {"SUPABASE_SERVICE_ROLE_KEY", "key"}}));
  ASSERT_TRUE(supabase) << supabase.error().message;
  EXPECT_EQ(std::get<blob::SupabaseOptions>(*supabase).url, "https://x.supabase.co");
}

TEST(StoreOptions, NameTheSettingThatIsMissing) {
  for (const auto& [kind, missing] :
       {std::pair{"s3", "storage.s3_bucket"}, std::pair{"azure", "storage.azure_account"},
        std::pair{"supabase", "storage.supabase_url"}}) {
    const auto options = store_options(settings_of({{"MILLRACE_STORAGE_KIND", kind}}));
    ASSERT_FALSE(options) << kind;
    EXPECT_THAT(options.error().message, HasSubstr(missing));
  }
  const auto spool = store_options(settings_of({{"MILLRACE_STORAGE_KIND", "supabase"},
                                                {"MILLRACE_STORAGE_SUPABASE_BUCKET", "docs"},
                                                {"SUPABASE_URL", "https://x.supabase.co"},
                                                {"SUPABASE_SERVICE_ROLE_KEY", "key"},
                                                {"MILLRACE_STORAGE_SPOOL_MAX", "much"}}));
  ASSERT_FALSE(spool);
  EXPECT_THAT(spool.error().message, HasSubstr("storage.spool_max"));
}

}  // namespace
}  // namespace millrace::app
