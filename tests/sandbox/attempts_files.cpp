#include "attempts.h"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char** environ;

namespace millrace::test {
namespace {

auto open_with(int flags) {
  return [flags](const Attempt& attempt) {
    return outcome(::open(attempt.argument.c_str(), flags, 0600));
  };
}

std::string beside(const Attempt& attempt) { return attempt.argument + ".new"; }

// Every descriptor that is open, as "0 1 2 3 5".
std::string open_descriptors(const Attempt&) {
  std::string list;
  for (int fd = 0; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) list += (list.empty() ? "" : " ") + std::to_string(fd);
  }
  return list;
}

void add_changes(Attempts& attempts) {
  attempts["mkdir"] = [](const Attempt& a) { return outcome(::mkdir(beside(a).c_str(), 0700)); };
  attempts["unlink"] = [](const Attempt& a) { return outcome(::unlink(a.argument.c_str())); };
  attempts["rename"] = [](const Attempt& a) {
    return outcome(::rename(a.argument.c_str(), beside(a).c_str()));
  };
  attempts["chmod"] = [](const Attempt& a) { return outcome(::chmod(a.argument.c_str(), 0777)); };
  attempts["truncate"] = [](const Attempt& a) {
    return outcome(::truncate(a.argument.c_str(), 0));
  };
  attempts["symlink"] = [](const Attempt& a) {
    return outcome(::symlink("/etc/passwd", beside(a).c_str()));
  };
  attempts["hard_link"] = [](const Attempt& a) {
    return outcome(::link(a.argument.c_str(), beside(a).c_str()));
  };
  attempts["mknod"] = [](const Attempt& a) {
    return outcome(::mknod(beside(a).c_str(), S_IFIFO | 0600, 0));
  };
  attempts["mount"] = [](const Attempt& a) {
    return outcome(::mount("none", a.argument.c_str(), "tmpfs", 0, nullptr));
  };
  attempts["umount"] = [](const Attempt&) { return outcome(::umount2("/proc", MNT_DETACH)); };
  attempts["open_tree"] = [](const Attempt&) {
    return outcome(::syscall(SYS_open_tree, AT_FDCWD, "/", 1));
  };
  attempts["pivot_root"] = [](const Attempt&) {
    return outcome(::syscall(SYS_pivot_root, "/", "/"));
  };
  attempts["chroot"] = [](const Attempt&) { return outcome(::chroot("/")); };
}

}  // namespace

void add_files(Attempts& attempts) {
  attempts["open"] = open_with(O_RDONLY);
  attempts["open_for_writing"] = open_with(O_WRONLY);
  attempts["open_for_both"] = open_with(O_RDWR);
  attempts["create"] = open_with(O_CREAT | O_WRONLY | O_TRUNC);
  attempts["temporary"] = open_with(O_TMPFILE | O_RDWR);
  attempts["open_path_only"] = open_with(O_PATH);
  attempts["open_folder"] = open_with(O_RDONLY | O_DIRECTORY);
  attempts["openat2"] = [](const Attempt& a) {
    unsigned long how[3] = {};
    return outcome(::syscall(SYS_openat2, AT_FDCWD, a.argument.c_str(), how, sizeof how));
  };
  attempts["open_by_handle"] = [](const Attempt&) {
    return outcome(::syscall(SYS_open_by_handle_at, AT_FDCWD, nullptr, O_RDONLY));
  };
  attempts["zygote_memory_file"] = [](const Attempt&) {
    return outcome(::open(("/proc/" + std::to_string(::getppid()) + "/mem").c_str(), O_RDWR));
  };
  attempts["zygote_environment"] = [](const Attempt&) {
    return outcome(::open(("/proc/" + std::to_string(::getppid()) + "/environ").c_str(), O_RDONLY));
  };
  attempts["zygote_descriptors"] = [](const Attempt&) {
    return outcome(::open(("/proc/" + std::to_string(::getppid()) + "/fd/3").c_str(), O_RDONLY));
  };
  attempts["read_link"] = [](const Attempt&) {
    char target[64];
    return outcome(::readlink("/proc/self/exe", target, sizeof target));
  };
  attempts["see"] = [](const Attempt& a) {
    struct stat info{};
    return outcome(::stat(a.argument.c_str(), &info));
  };
  attempts["read_path"] = [](const Attempt& attempt) {
    std::ifstream file(attempt.argument);
    if (!file) return std::string("cannot open");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  attempts["read_file"] = [](const Attempt& attempt) {
    std::string text(4096, '\0');
    const auto size = ::read(attempt.channel.file(0), text.data(), text.size());
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  };
  attempts["write_file"] = [](const Attempt& attempt) {
    return outcome(::write(attempt.channel.file(0), "x", 1));
  };
  attempts["cut_file"] = [](const Attempt& attempt) {
    return outcome(::ftruncate(attempt.channel.file(0), 0));
  };
  attempts["lock_file"] = [](const Attempt& attempt) {
    return outcome(::syscall(SYS_flock, attempt.channel.file(0), 2));
  };
  attempts["reopen_file"] = [](const Attempt& attempt) {
    const std::string path = "/proc/self/fd/" + std::to_string(attempt.channel.file(0));
    return outcome(::open(path.c_str(), O_RDWR));
  };
  attempts["descriptors"] = open_descriptors;
  attempts["too_many_descriptors"] = [](const Attempt&) {
    long answer = 0;
    for (int i = 0; i < 100'000 && answer >= 0; ++i) answer = ::dup(0);
    return outcome(answer);
  };
  attempts["environment"] = [](const Attempt&) {
    std::string all;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      all += *variable;
      all += '\n';
    }
    return all;
  };
  attempts["user"] = [](const Attempt&) {
    return std::to_string(::getuid()) + " " + std::to_string(::geteuid());
  };
  add_changes(attempts);
}

}  // namespace millrace::test
