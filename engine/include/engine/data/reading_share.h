#pragma once

#include <cstdint>

namespace engine {

/// How far the reading of a data set is; a total of 0: nothing is known. Counts files, or the bytes
/// of one large file as it lies on the disk, packed or not.
struct ReadingShare {
    std::int64_t done = 0;
    std::int64_t total = 0;
    bool in_bytes = false;
};

}  // namespace engine
