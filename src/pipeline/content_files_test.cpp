// Contents as files for children: fetched once however many ask, each with an offset of its own,
// forgotten when there is no more room, and nobody waits for ever when fetching fails.
#include "pipeline/content_files.h"

#include "base/event.h"
#include "base/run.h"
#include "blob/filesystem_store.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

namespace millrace::pipeline {
namespace {

namespace fs = std::filesystem;

// Notes the largest piece that was asked for.
class Measured final : public blob::BlobReader {
 public:
  Measured(std::unique_ptr<blob::BlobReader> inner, std::size_t& largest)
      : inner_(std::move(inner)), largest_(largest) {}
  const blob::BlobInfo& info() const override { return inner_->info(); }
  std::uint64_t left_bytes() const override { return inner_->left_bytes(); }
  Task<std::size_t> read(std::span<std::byte> buffer) override {
    largest_ = std::max(largest_, buffer.size());
    return inner_->read(buffer);
  }

 private:
  std::unique_ptr<blob::BlobReader> inner_;
  std::size_t& largest_;
};

// The store of a test: counts openings, and fails or waits when told to.
class Counted final : public blob::BlobStore {
 public:
  explicit Counted(std::unique_ptr<blob::BlobStore> inner) : inner_(std::move(inner)) {}
  std::string_view name() const override { return inner_->name(); }
  Task<std::unique_ptr<blob::BlobWriter>> create(blob::PutOptions options) override {
    return inner_->create(std::move(options));
  }
  Task<std::unique_ptr<blob::BlobReader>> open(blob::BlobKey key, blob::ByteRange range) override {
    ++openings;
    if (gate) co_await gate->wait();
    if (throws) throw std::bad_alloc();
    if (away) co_return fail(ErrorKind::unavailable, "the store is away");
    MR_CO_TRY(auto reader, co_await inner_->open(key, range));
    co_return std::make_unique<Measured>(std::move(reader), largest_read);
  }
  Task<blob::BlobInfo> stat(blob::BlobKey key) override { return inner_->stat(key); }
  Task<bool> remove(blob::BlobKey key, blob::RemoveOptions options) override {
    return inner_->remove(key, options);
  }
  Task<blob::BlobPage> list(blob::ListOptions options) override {
    return inner_->list(std::move(options));
  }
  Task<std::optional<blob::SignedUrl>> signed_url(blob::BlobKey key,
                                                  blob::SignOptions options) override {
    return inner_->signed_url(key, std::move(options));
  }
  Task<std::size_t> sweep_staging(Clock::Duration older_than) override {
    return inner_->sweep_staging(older_than);
  }
  Task<void> check() override { return inner_->check(); }

  int openings = 0;
  std::size_t largest_read = 0;
  bool away = false;
  bool throws = false;
  std::optional<Event> gate;

 private:
  std::unique_ptr<blob::BlobStore> inner_;
};

class ContentFilesTest : public testing::Test {
 protected:
  ContentFilesTest() {
    std::string name = (fs::temp_directory_path() / "millrace_content_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    auto made = blob::FilesystemStore::make({.root = root_ / "blobs"}, pool_.get_executor(), clock_,
                                            random_);
    blobs_ = std::make_unique<Counted>(std::move(made).value());
    make({});
  }
  ~ContentFilesTest() override {
    contents_.reset();
    pool_.join();
    fs::remove_all(root_);
  }

  void make(ContentFiles::Options options) {
    options.folder = root_;
    contents_ = std::make_unique<ContentFiles>(*blobs_, pool_.get_executor(), options);
  }
  store::ContentRef put(std::string text) {
    const auto size = static_cast<std::int64_t>(text.size());
    const auto kept = run_blocking(keep_content(*blobs_, std::move(text), "text/plain")).value();
    return {.sha256 = std::string(kept.at("sha256").as_string()),
            .size_bytes = size,
            .store_key = std::string(kept.at("store_key").as_string())};
  }
  Result<sandbox::UniqueFd> open(const store::ContentRef& content) {
    return run_blocking(contents_->open(content));
  }
  static std::string read(const sandbox::UniqueFd& file, std::size_t bytes = 100) {
    std::string text(bytes, '\0');
    const auto got = ::read(file.get(), text.data(), text.size());
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

  ManualClock clock_;
  SeededRandom random_{7};
  boost::asio::thread_pool pool_{2};
  fs::path root_;
  std::unique_ptr<Counted> blobs_;
  std::unique_ptr<ContentFiles> contents_;
};

TEST_F(ContentFilesTest, IsFetchedOnceAndReadFromTheStartByEach) {
  const auto content = put("hello");
  const auto first = open(content).value();
  EXPECT_EQ(read(first, 3), "hel");
  EXPECT_EQ(read(open(content).value()), "hello");
  EXPECT_EQ(read(first), "lo");
  EXPECT_EQ(blobs_->openings, 1);
}

TEST_F(ContentFilesTest, CannotBeWrittenByWhoeverGetsIt) {
  const auto file = open(put("hello")).value();
  EXPECT_LT(::write(file.get(), "x", 1), 0);
  EXPECT_EQ(::fcntl(file.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
}

TEST_F(ContentFilesTest, LeavesNoNameBehind) {
  const auto file = open(put("hello")).value();
  std::size_t names = 0;
  for (const auto& entry : fs::directory_iterator(root_)) names += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(names, 0U);
}

TEST_F(ContentFilesTest, ManyWhoAskAtOnceWaitForOneDownload) {
  using namespace boost::asio::experimental::awaitable_operators;
  const auto content = put("hello");
  blobs_->gate.emplace();
  boost::asio::io_context io;
  const auto last = [&]() -> Task<sandbox::UniqueFd> {
    blobs_->gate->set();
    co_return co_await contents_->open(content);
  };
  auto all = run_blocking(io, contents_->open(content) && last());
  EXPECT_EQ(read(*std::get<0>(all)), "hello");
  EXPECT_EQ(read(*std::get<1>(all)), "hello");
  EXPECT_EQ(blobs_->openings, 1);
}

TEST_F(ContentFilesTest, AFailureIsToldToAllAndForgotten) {
  const auto content = put("hello");
  blobs_->away = true;
  EXPECT_EQ(open(content).error().kind, ErrorKind::unavailable);
  blobs_->away = false;
  EXPECT_EQ(read(open(content).value()), "hello");
}

// Stuck for ever is the one thing it must not be.
TEST_F(ContentFilesTest, AFetchThatIsThrownOutOfKeepsNobodyWaiting) {
  using namespace boost::asio::experimental::awaitable_operators;
  const auto content = put("hello");
  blobs_->throws = true;
  EXPECT_THROW(static_cast<void>(open(content)), std::bad_alloc);
  blobs_->throws = false;
  EXPECT_EQ(read(open(content).value()), "hello");
}

TEST_F(ContentFilesTest, MissingContentIsNotFound) {
  auto content = put("hello");
  content.sha256 = std::string(64, 'a');
  content.store_key = "sha256/" + content.sha256;
  const auto missing = open(content);
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().kind == ErrorKind::not_found ||
              missing.error().kind == ErrorKind::invalid_argument)
      << missing.error().message;
}

TEST_F(ContentFilesTest, TheOldestGoesWhenThereIsNoMoreRoom) {
  make({.bytes_max = 10});
  const auto a = put("aaaaaa");
  const auto b = put("bbbbbb");
  const auto kept = open(a).value();
  open(b).value();
  EXPECT_EQ(blobs_->openings, 2);
  EXPECT_EQ(read(open(a).value()), "aaaaaa");  // Fetched again.
  EXPECT_EQ(blobs_->openings, 3);
  EXPECT_EQ(read(kept), "aaaaaa");  // Who had it still has it.
}

TEST_F(ContentFilesTest, TheNumberOfFilesIsBounded) {
  make({.files_max = 2});
  std::vector<store::ContentRef> contents;
  for (const auto* text : {"1", "2", "3"}) contents.push_back(put(text));
  for (const auto& content : contents) open(content).value();
  open(contents[2]).value();
  open(contents[1]).value();
  EXPECT_EQ(blobs_->openings, 3);
  open(contents[0]).value();
  EXPECT_EQ(blobs_->openings, 4);
}

TEST_F(ContentFilesTest, OneThatIsLargerThanAllRoomIsKeptAlone) {
  make({.bytes_max = 3});
  const auto content = put("larger than that");
  open(content).value();
  EXPECT_EQ(read(open(content).value()), "larger than that");
  EXPECT_EQ(blobs_->openings, 1);
}

TEST_F(ContentFilesTest, BytesOfOursBecomeAFileToo) {
  EXPECT_EQ(read(run_blocking(contents_->with_bytes("our own")).value()), "our own");
  EXPECT_EQ(read(run_blocking(contents_->with_bytes("")).value()), "");
}

// B-25: in pieces, whatever its size.
TEST_F(ContentFilesTest, ContentIsKeptAgainInPieces) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{3} * 1024 * 1024 + 7}) {
    const auto content = put(std::string(size, 'x'));
    blobs_->largest_read = 0;
    const auto again =
        run_blocking(keep_again(*blobs_, content.store_key, "text/markdown")).value();
    EXPECT_EQ(again.at("sha256").as_string(), content.sha256);
    EXPECT_EQ(again.at("size_bytes").to_number<std::size_t>(), size);
    EXPECT_EQ(again.at("content_type").as_string(), "text/markdown");
    EXPECT_LE(blobs_->largest_read, std::size_t{1024} * 1024);
  }
  EXPECT_FALSE(
      run_blocking(keep_again(*blobs_, "sha256/" + std::string(64, 'a'), "x")).has_value());
}

TEST_F(ContentFilesTest, ContentThatIsTooLargeToReadWholeIsRefused) {
  const auto content = put("hello");
  EXPECT_EQ(run_blocking(read_content(*blobs_, content, 5)).value(), "hello");
  EXPECT_EQ(run_blocking(read_content(*blobs_, content, 4)).error().kind, ErrorKind::internal);
}

}  // namespace
}  // namespace millrace::pipeline
