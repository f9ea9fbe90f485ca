#include "io/file/mapped_access.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace engine {
namespace {

constinit thread_local const MappedAccess* innermost = nullptr;

}  // namespace

struct BusErrorHandler {
    static inline std::uintptr_t page = 0;
    static inline struct sigaction previous {};

    BusErrorHandler() {
        page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        struct sigaction action {};
        action.sa_sigaction = &handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(SIGBUS, &action, &previous);
    }

    static void handle(int signal, siginfo_t* info, void* context) {
        const int kept = errno;
        const bool missing = info->si_code == BUS_ADRERR && replace_lost(info->si_addr);
        errno = kept;
        if (!missing) pass_on(signal, info, context);
    }

    static bool replace_lost(void* at) {
        const auto address = reinterpret_cast<std::uintptr_t>(at);
        for (const auto* access = innermost; access != nullptr; access = access->outer_) {
            const auto begin = reinterpret_cast<std::uintptr_t>(access->mapping_.data());
            const auto end = begin + access->mapping_.size();
            if (address < begin || address >= end) continue;
            access->mapping_.set_lost();
            // A file is cut at its end: all pages behind the missing one are missing too.
            return put_zeros(address / page * page, end);
        }
        return false;
    }

    /// The instruction that failed is then repeated on them.
    static bool put_zeros(std::uintptr_t begin, std::uintptr_t end) {
        // The system call itself: sanitizers replace mmap() with one that a handler must not call.
        const long result =
            ::syscall(SYS_mmap, begin, end - begin, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        return result != -1;
    }

    static void pass_on(int signal, siginfo_t* info, void* context) {
        if ((previous.sa_flags & SA_SIGINFO) != 0)
            return previous.sa_sigaction(signal, info, context);
        if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
            return previous.sa_handler(signal);
        ::sigaction(SIGBUS, &previous, nullptr);
        ::raise(signal);  // delivered on return from this handler, and then it ends the process
    }
};

MappedAccess::MappedAccess(const Mapping& mapping) noexcept : mapping_(mapping), outer_(innermost) {
    static const BusErrorHandler installed;
    innermost = this;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // known to the handler before the access
}

MappedAccess::~MappedAccess() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    innermost = outer_;
}

}  // namespace engine
