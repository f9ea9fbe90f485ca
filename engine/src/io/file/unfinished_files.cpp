#include "io/file/unfinished_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "engine/io/named_file.h"

namespace engine {
namespace {

constexpr std::size_t most_unfinished = 32, longest_path = 4096;

/// A signal handler reads these, so there is neither a lock nor memory that is reserved for them.
struct UnfinishedPlace {
    std::atomic<pid_t> owner{0};  ///< a forked process has the places of its parent, too
    std::array<char, longest_path> path{};
};
static_assert(std::atomic<pid_t>::is_always_lock_free);

constexpr pid_t nobody = 0, being_filled = -1;
std::array<UnfinishedPlace, most_unfinished> unfinished_places;

}  // namespace

void UnfinishedFile::note(const std::string& path) {
    forget();
    if (path.size() >= longest_path) return;
    for (std::size_t i = 0; i < most_unfinished; ++i) {
        UnfinishedPlace& place = unfinished_places[i];
        pid_t free = nobody;
        if (!place.owner.compare_exchange_strong(free, being_filled)) continue;
        *std::ranges::copy(path, place.path.begin()).out = '\0';
        place.owner = ::getpid();
        place_ = i;
        return;
    }
}

void UnfinishedFile::forget() {
    if (const auto place = std::exchange(place_, std::nullopt))
        unfinished_places[*place].owner = nobody;
}

void remove_unfinished_files() noexcept {
    for (const UnfinishedPlace& place : unfinished_places)
        if (place.owner == ::getpid()) ::unlink(place.path.data());
}

}  // namespace engine
