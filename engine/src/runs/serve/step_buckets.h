#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace engine {

/// The least, the greatest and the last finite value of some steps; NaN without one.
struct BucketRange {
    float least = std::numeric_limits<float>::quiet_NaN();
    float greatest = std::numeric_limits<float>::quiet_NaN();
    float last = std::numeric_limits<float>::quiet_NaN();
    void add(float value);
    void add(const BucketRange& later);
};

/// Figures of some steps of a run in a row.
struct StepBucket {
    BucketRange loss;
    BucketRange scale;
    std::int64_t skipped = 0;
    std::int64_t broken = 0;  ///< steps whose loss is NaN or infinite
    void add(const StepBucket& later);
};

/// A run of any length as at most `most` buckets of equally many steps, the last one perhaps not
/// full. When there is no room for another one, neighbours are joined in pairs.
class StepBuckets {
public:
    static constexpr std::size_t most = 2048;

    void add(float loss, float scale, bool skipped);
    std::int64_t size() const { return size_; }    ///< steps
    std::int64_t width() const { return width_; }  ///< steps of a full bucket, a power of two
    const std::vector<StepBucket>& buckets() const { return buckets_; }

private:
    std::int64_t size_ = 0;
    std::int64_t width_ = 1;
    std::vector<StepBucket> buckets_;
};

}  // namespace engine
