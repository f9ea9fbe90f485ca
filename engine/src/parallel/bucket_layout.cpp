#include "parallel/bucket_layout.h"

namespace engine {

BucketLayout::BucketLayout(const ExchangeBucket& bucket)
    : gradients_(bucket.gradients), type_(bucket.gradients.front().dtype()) {
    if (bucket.in_f32 && is_low(type_)) type_ = DType::f32;
    for (const Tensor& gradient : gradients_) count_ += gradient.numel();
}

}  // namespace engine
