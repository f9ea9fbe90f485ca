#include "interruption.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "engine/io/named_file.h"

namespace app {
namespace {

std::atomic<bool> interrupted{false};

extern "C" void on_request_to_end(int signal) {
    engine::remove_unfinished_files();
    std::signal(signal, SIG_DFL);
    ::raise(signal);
}

extern "C" void on_interrupt(int) {
    if (!interrupted.exchange(true)) return;
    engine::remove_unfinished_files();
    ::_exit(130);
}

}  // namespace

void remove_parts_when_ended() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        if (std::signal(signal, on_request_to_end) == SIG_IGN) std::signal(signal, SIG_IGN);
    }
}

InterruptScope::InterruptScope() {
    interrupted = false;
    interrupt_ = std::signal(SIGINT, on_interrupt);
    end_ = std::signal(SIGTERM, on_interrupt);
    hang_up_ = std::signal(SIGHUP, on_interrupt);
    if (hang_up_ == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup asked for it
    // On other signals mpirun ends its ranks within a second.
    user_ = std::signal(SIGUSR1, on_interrupt);
}

InterruptScope::~InterruptScope() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGTERM, end_);
    std::signal(SIGHUP, hang_up_);
    std::signal(SIGUSR1, user_);
}

bool was_interrupted() { return interrupted; }
void note_interruption() { interrupted = true; }

}  // namespace app
