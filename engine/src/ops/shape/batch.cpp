#include "ops/shape/batch.h"

#include "ops/shape/view.h"
#include "tensor/check.h"

namespace engine {

Tensor with_batch(const OpInfo& info, const Tensor& x, int dims) {
    if (x.rank() != dims + 1) {
        check_rank(info, x, dims + 2);
        return x;
    }
    Shape shape{1};
    for (const auto size : x.shape()) shape.push_back(size);
    return reshape(x, shape);
}

Tensor without_batch(const Tensor& y, const Tensor& x, int dims) {
    if (x.rank() == dims + 2) return y;
    Shape shape;
    for (int i = 1; i < y.rank(); ++i) shape.push_back(y.size(i));
    return reshape(y, shape);
}

}  // namespace engine
