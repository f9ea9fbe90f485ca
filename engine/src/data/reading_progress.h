#pragma once

#include <functional>

#include "engine/data/reading_share.h"

namespace engine {

/// How far the opening of a data set is. Called by the thread that opens it, a few times a second.
using ReadingProgress = std::function<void(const ReadingShare&)>;

/// While it lives, data sets that this thread opens report how far they are.
class ReadingProgressScope {
public:
    explicit ReadingProgressScope(ReadingProgress progress);
    ~ReadingProgressScope();
    ReadingProgressScope(const ReadingProgressScope&) = delete;
    ReadingProgressScope& operator=(const ReadingProgressScope&) = delete;

private:
    ReadingProgress progress_;
    const ReadingProgress* before_;
};

/// Tells the scope of this thread, if there is one.
void report_reading(const ReadingShare& share);

}  // namespace engine
