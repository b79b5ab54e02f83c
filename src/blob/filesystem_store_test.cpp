// What is the filesystem's own: where files lie, in which order they are made durable, what a death
// in between leaves, locks. Everything that all stores promise is tried in tests/blob.
#include "blob/filesystem_store.h"

#include "base/run.h"
#include "base/uuid.h"

#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace millrace::blob {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class FilesystemBlobs : public testing::Test {
 protected:
  FilesystemBlobs() {
    std::string name = (fs::temp_directory_path() / "millrace_blob_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    make_store();
  }
  ~FilesystemBlobs() override {
    store_.reset();
    pool_.join();
    fs::remove_all(root_);
  }

  void make_store(std::function<void(std::string_view)> at_step = {}) {
    auto made = FilesystemStore::make(
        {.root = root_ / "blobs", .prefix = "p", .at_step = std::move(at_step)},
        pool_.get_executor(), clock_, random_);
    if (!made) throw std::runtime_error(made.error().message);
    store_ = *std::move(made);
  }

  Result<BlobInfo> put(std::string text, PutOptions options = {}) {
    return run_blocking(put_task(store_.get(), std::move(text), std::move(options)));
  }
  static Task<BlobInfo> put_task(BlobStore* store, std::string text, PutOptions options) {
    MR_CO_TRY(const auto writer, co_await store->create(std::move(options)));
    MR_CO_TRY_VOID(co_await writer->write(bytes_of(text)));
    co_return co_await writer->finish();
  }
  Result<std::string> get(const BlobKey& key) { return run_blocking(get_task(store_.get(), key)); }
  static Task<std::string> get_task(BlobStore* store, BlobKey key) {
    MR_CO_TRY(const auto reader, co_await store->open(key, {}));
    std::string text;
    std::vector<std::byte> buffer(7);
    for (;;) {
      MR_CO_TRY(const std::size_t size, co_await reader->read(buffer));
      if (size == 0) co_return text;
      text.append(reinterpret_cast<const char*>(buffer.data()), size);
    }
  }

  fs::path path_of(const BlobKey& key) const { return root_ / "blobs" / "p" / key.text(); }
  fs::path staging() const { return root_ / "blobs" / "p" / "staging"; }
  std::vector<fs::path> staged() const {
    return {fs::directory_iterator(staging()), fs::directory_iterator()};
  }
  void age(const fs::path& path, std::chrono::hours by) {
    fs::last_write_time(path, fs::last_write_time(path) - by);
  }

  SystemClock clock_;
  SystemRandom random_;
  boost::asio::thread_pool pool_{2};
  fs::path root_;
  std::unique_ptr<FilesystemStore> store_;
};

TEST_F(FilesystemBlobs, LieUnderTheirDigestForThisUserAlone) {
  const auto stored = put("abc");
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  const auto path = root_ / "blobs/p/sha256/ba" /
                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat(path.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_THAT(staged(), IsEmpty());
}

// U-01: what was answered is durable. The order is what makes it so.
TEST_F(FilesystemBlobs, AreSyncedBeforeTheyAreNamedAndTheNameIsSyncedBeforeTheAnswer) {
  std::vector<std::string> steps;
  make_store([&](std::string_view step) { steps.emplace_back(step); });
  ASSERT_TRUE(put("abc").has_value());
  EXPECT_THAT(steps, ElementsAre("create", "lock", "write", "touch", "sync", "open_shard",
                                 "lock_shard", "rename", "sync_shard", "done"));
}

// Writes in a child that dies at the n-th step; true when it got that far.
bool die_at(const fs::path& root, int step, const std::string& text) {
  const pid_t child = ::fork();
  if (child == 0) {
    SystemClock clock;
    SystemRandom random;
    boost::asio::thread_pool pool(1);
    int count = 0;
    auto store = FilesystemStore::make({.root = root,
                                        .prefix = {},
                                        .at_step =
                                            [&](std::string_view) {
                                              if (++count == step) ::kill(::getpid(), SIGKILL);
                                            }},
                                       pool.get_executor(), clock, random);
    const auto put = [](BlobStore* to, std::string content) -> Task<void> {
      MR_CO_TRY(const auto writer, co_await to->create({}));
      MR_CO_TRY_VOID(co_await writer->write(bytes_of(std::string_view(content).substr(0, 5))));
      MR_CO_TRY_VOID(co_await writer->write(bytes_of(std::string_view(content).substr(5))));
      MR_CO_TRY_VOID(co_await writer->finish());
      co_return ok();
    };
    const bool done = store && run_blocking(put(store->get(), text)).has_value();
    ::_exit(done ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

TEST_F(FilesystemBlobs, DeathAtAnyStepLeavesTheWholeBlobOrNone) {
  const std::string text = "first and second piece";
  const BlobKey key{sha256(text)};
  bool was_there = false;
  int deaths = 0;
  while (die_at(root_ / "crash", deaths + 1, text)) {
    ++deaths;
    auto store =
        FilesystemStore::make({.root = root_ / "crash"}, pool_.get_executor(), clock_, random_);
    ASSERT_TRUE(store.has_value());
    const auto got = run_blocking(get_task(store->get(), key));
    if (got) EXPECT_EQ(*got, text) << deaths;
    if (!got) EXPECT_EQ(got.error().kind, ErrorKind::not_found) << deaths;
    EXPECT_TRUE(got.has_value() || !was_there) << "a step later it was gone again";
    was_there = got.has_value();
    const auto page = run_blocking((*store)->list({}));
    EXPECT_EQ(page->blobs.size(), was_there ? 1U : 0U);
    // What is left in staging is nobody's: even a young one is swept, being unlocked.
    const auto left = fs::directory_iterator(root_ / "crash/staging");
    EXPECT_EQ(run_blocking((*store)->sweep_staging(-1h)).value(),
              static_cast<std::size_t>(std::distance(left, fs::directory_iterator())));
    EXPECT_TRUE(fs::is_empty(root_ / "crash/staging"));
    ASSERT_TRUE(run_blocking((*store)->remove(key, {})).value());
    was_there = false;
  }
  EXPECT_EQ(deaths, 11);  // Every step was one.
}

TEST_F(FilesystemBlobs, DamageOnTheDiskIsNoticedBeforeTheLastBytesAreHandedOut) {
  const auto stored = put("some content of a document");
  ASSERT_TRUE(stored.has_value());
  {
    std::fstream file(path_of(stored->key), std::ios::in | std::ios::out);
    file.seekp(3);
    file.put('X');
  }
  const auto got = get(stored->key);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().kind, ErrorKind::internal);
  EXPECT_THAT(got.error().message, HasSubstr("is damaged"));
  fs::resize_file(path_of(stored->key), 4);
  EXPECT_EQ(get(stored->key).error().kind, ErrorKind::internal);
  // Storing the content again heals it.
  ASSERT_TRUE(put("some content of a document").has_value());
  EXPECT_EQ(get(stored->key).value(), "some content of a document");
}

TEST_F(FilesystemBlobs, AnythingButAFileInItsPlaceIsRefused) {
  const BlobKey key{sha256("x")};
  fs::create_directories(path_of(key).parent_path());
  fs::create_symlink("/etc/passwd", path_of(key));
  EXPECT_EQ(get(key).error().kind, ErrorKind::internal);
  fs::remove(path_of(key));
  ASSERT_EQ(::mkfifo(path_of(key).c_str(), 0600), 0);
  EXPECT_EQ(get(key).error().kind, ErrorKind::internal);
}

TEST_F(FilesystemBlobs, SweepTakesWhatIsOldAndAbandonedOnly) {
  auto writer = run_blocking(store_->create({}));
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(run_blocking((*writer)->write(bytes_of("at work"))).has_value());
  const auto at_work = staged().at(0);
  age(at_work, 48h);
  const auto abandoned = staging() / random_.uuid().to_string();
  const auto young = staging() / random_.uuid().to_string();
  const auto foreign = staging() / "notes.txt";
  for (const auto& path : {abandoned, young, foreign}) std::ofstream(path) << "x";
  age(abandoned, 48h);
  age(foreign, 48h);

  EXPECT_EQ(run_blocking(store_->sweep_staging(24h)).value(), 1U);
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(foreign));
  ASSERT_TRUE(fs::exists(at_work)) << "a writer that lives keeps its file, however old";
  EXPECT_EQ(run_blocking((*writer)->finish())->key.sha256, sha256("at work"));
}

// U-08 and its race: an orphan that is written anew in the moment it is swept stays.
TEST_F(FilesystemBlobs, ConditionalRemovalSeesAWriteThatCameBetween) {
  const auto old = put("abc");
  ASSERT_TRUE(old.has_value());
  age(path_of(old->key), 48h);
  const auto cutoff = clock_.wall() - 24h;
  ASSERT_TRUE(put("abc").has_value());  // The sweep had seen the old age before this.
  EXPECT_FALSE(run_blocking(store_->remove(old->key, {.if_modified_before = cutoff})).value());
  EXPECT_EQ(get(old->key).value(), "abc");
}

TEST_F(FilesystemBlobs, DroppedWriterLeavesNothing) {
  {
    auto writer = run_blocking(store_->create({}));
    ASSERT_TRUE(run_blocking((*writer)->write(bytes_of("gone"))).has_value());
    ASSERT_THAT(staged(), SizeIs(1));
  }
  // The pool removes it; whatever is posted later on one thread comes after.
  store_.reset();
  pool_.join();
  EXPECT_THAT(staged(), IsEmpty());
}

TEST_F(FilesystemBlobs, ForeignFilesAreNotListed) {
  const auto stored = put("abc");
  ASSERT_TRUE(stored.has_value());
  std::ofstream(path_of(stored->key).parent_path() / "README") << "x";
  fs::create_directories(root_ / "blobs/p/sha256/zz");
  std::ofstream(root_ / "blobs/p/sha256/lost") << "x";
  const auto page = run_blocking(store_->list({}));
  ASSERT_TRUE(page.has_value()) << page.error().message;
  ASSERT_THAT(page->blobs, SizeIs(1));
  EXPECT_EQ(page->blobs[0].key, stored->key);
}

TEST_F(FilesystemBlobs, AFolderThatCannotBeUsedIsRefusedAtTheStart) {
  std::ofstream(root_ / "file") << "x";
  const auto make = [this](const fs::path& root, std::string prefix = {}) {
    return FilesystemStore::make({.root = root, .prefix = std::move(prefix)}, pool_.get_executor(),
                                 clock_, random_);
  };
  EXPECT_EQ(make(root_ / "file").error().kind, ErrorKind::internal);
  EXPECT_EQ(make("").error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(make(root_, "../other").error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(make(root_ / "a/b/c/d").has_value()) << "parents are made";
}

TEST_F(FilesystemBlobs, FullDiskIsUnavailableAndLeavesNothing) {
  // A limit on the size of files stands for a full disk; the signal that goes with it is ignored.
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    boost::asio::thread_pool pool(1);
    auto store =
        FilesystemStore::make({.root = root_ / "full"}, pool.get_executor(), clock_, random_);
    const auto stored = run_blocking(put_task(store->get(), std::string(5000, 'x'), PutOptions{}));
    pool.join();
    const bool right = !stored && stored.error().kind == ErrorKind::unavailable;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_empty(root_ / "full/staging"));
}

}  // namespace
}  // namespace millrace::blob
