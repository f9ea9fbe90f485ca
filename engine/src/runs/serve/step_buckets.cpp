#include "runs/serve/step_buckets.h"

#include <algorithm>
#include <cmath>

namespace engine {

void BucketRange::add(float value) {
    if (std::isfinite(value)) add({value, value, value});
}

void BucketRange::add(const BucketRange& later) {
    if (std::isnan(later.last)) return;
    least = std::fmin(least, later.least);
    greatest = std::fmax(greatest, later.greatest);
    last = later.last;
}

void StepBucket::add(const StepBucket& later) {
    loss.add(later.loss);
    scale.add(later.scale);
    skipped += later.skipped;
    broken += later.broken;
}

void StepBuckets::add(float loss, float scale, bool skipped) {
    if (size_ == width_ * static_cast<std::int64_t>(most)) {
        for (std::size_t i = 0; i < most / 2; ++i) {
            StepBucket joined = buckets_[2 * i];
            joined.add(buckets_[2 * i + 1]);
            buckets_[i] = joined;
        }
        buckets_.resize(most / 2);
        width_ *= 2;
    }
    if (size_ % width_ == 0) buckets_.emplace_back();
    StepBucket& open = buckets_.back();
    open.loss.add(loss);
    open.scale.add(scale);
    open.skipped += skipped ? 1 : 0;
    open.broken += std::isfinite(loss) ? 0 : 1;
    ++size_;
}

}  // namespace engine
