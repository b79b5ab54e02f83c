// World: one blob store with the real server (or folder, or stand-in) behind it, for one test.
//
// Servers from packages are started once per test program, when the first test wants one; each
// world has a prefix of its own in them.
#pragma once

#include "base/random.h"
#include "blob/blob_store.h"
#include "http/client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millrace::test {

enum class Backend { filesystem, azurite, s3rver, supabase, versitygw };
std::string to_string(Backend backend);

// What worlds are made in: one I/O thread, a disk pool, real time.
struct Ground {
  boost::asio::io_context io{1};
  boost::asio::thread_pool disk{2};
  SystemClock clock;
  SystemRandom random;
  http::Client client{io.get_executor()};

  ~Ground() { disk.join(); }
};

class World {
 public:
  virtual ~World() = default;
  virtual blob::BlobStore& store() = 0;

  virtual bool can_sweep() const { return true; }  // The server knows of unfinished uploads.

  // Puts other bytes under the key, past the store.
  virtual void overwrite(const blob::BlobKey& key, const std::string& bytes) = 0;
  // Sends a write for the key whose body was changed after it was signed; the server's status.
  virtual int put_altered(const blob::BlobKey&) { return 0; }
  // Starts an upload for the key as a process would that then dies.
  virtual void abandon_upload(const blob::BlobKey&) {}
  // Stores on the same server that cannot work; null where there is no such thing.
  virtual std::unique_ptr<blob::BlobStore> with_wrong_secret() { return nullptr; }
  virtual std::unique_ptr<blob::BlobStore> with_missing_bucket() { return nullptr; }
  // The secrets that must not be in any message.
  virtual std::vector<std::string> secrets() const { return {}; }
  // What the environment of a server must hold that shall use the same store.
  virtual std::map<std::string, std::string> environment() const { return {}; }
  // A URL that was good and has expired.
  virtual std::string expired_url(const blob::BlobKey&) { return {}; }
};

// Throws, which fails the test, when the server cannot be started.
std::unique_ptr<World> make_world(Backend backend, Ground& ground);

}  // namespace millrace::test
