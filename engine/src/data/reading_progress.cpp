#include "data/reading_progress.h"

#include <utility>

namespace engine {
namespace {

thread_local const ReadingProgress* current = nullptr;

}  // namespace

ReadingProgressScope::ReadingProgressScope(ReadingProgress progress)
    : progress_(std::move(progress)), before_(std::exchange(current, &progress_)) {}

ReadingProgressScope::~ReadingProgressScope() { current = before_; }

void report_reading(std::int64_t done, std::int64_t total) {
    if (current != nullptr && *current) (*current)(done, total);
}

}  // namespace engine
