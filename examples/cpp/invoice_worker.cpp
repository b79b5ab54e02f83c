// A worker of our own: `DATABASE_URL=... invoice_worker`, stopped by SIGTERM or Ctrl-C.
#include "invoice_handler.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main() {
  const char* url = std::getenv("DATABASE_URL");
  if (url == nullptr) {
    std::fputs("set DATABASE_URL\n", stderr);
    return 2;
  }
  // The signals are waited for by one thread, so that stop() runs outside a signal handler.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  millrace::client::Worker worker({.database_url = url, .slots = 8});
  worker.handle("render_invoice", render_invoice);
  std::thread waiter([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    worker.stop();
  });
  const auto ran = worker.run();
  if (!ran) std::fprintf(stderr, "%s\n", ran.error().message.c_str());
  pthread_kill(waiter.native_handle(), SIGUSR1);
  waiter.join();
  return ran ? 0 : 1;
}
