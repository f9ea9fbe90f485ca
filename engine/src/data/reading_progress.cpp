#include "data/reading_progress.h"

#include <utility>

namespace engine {
namespace {

thread_local const ReadingProgress* current = nullptr;

}  // namespace

ReadingProgressScope::ReadingProgressScope(ReadingProgress progress)
    : progress_(std::move(progress)), before_(std::exchange(current, &progress_)) {}

ReadingProgressScope::~ReadingProgressScope() { current = before_; }

void report_reading(const ReadingShare& share) {
    if (current != nullptr && *current) (*current)(share);
}

}  // namespace engine
