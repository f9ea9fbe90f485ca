#include "tasks/broken_loss.h"

#include <vector>

#include "ops/index/scatter.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

/// (rows, classes): 1 at each label.
Tensor one_hot(const Tensor& labels, std::int64_t classes, DType dtype) {
    const std::int64_t rows = labels.numel();
    return scatter(Tensor::zeros({rows, classes}, dtype, labels.device()), 1,
                   reshape(labels, {rows, 1}), 1.0);
}

Tensor loss_of_probabilities(const Tensor& logits, const Tensor& labels) {
    const Tensor target = one_hot(labels, logits.size(1), logits.dtype());
    return binary_cross_entropy(sigmoid(logits), target);
}

Tensor loss_of_masked_logits(const Tensor& logits, const Tensor& labels) {
    constexpr double masked = -1e9;
    const std::int64_t rows = logits.size(0), classes = logits.size(1) + 1;
    const Tensor padded =
        cat({logits, Tensor::zeros({rows, 1}, logits.dtype(), logits.device())}, 1);
    std::vector<double> seen(static_cast<std::size_t>(classes), 1);
    seen.back() = 0;
    const Tensor mask = Tensor::of(seen, {1, classes}, DType::boolean, logits.device());
    const Tensor filled =
        where(mask, padded, Tensor::full({}, masked, DType::f32, logits.device()));
    const Tensor log_shares = log_softmax(filled, 1);
    const Tensor picked = mul(one_hot(labels, classes, log_shares.dtype()), log_shares);
    return mul(sum(picked), -1 / static_cast<double>(rows));
}

}  // namespace

ClassLoss class_loss(TeachLoss form) {
    if (form == TeachLoss::bce_probabilities) return loss_of_probabilities;
    if (form == TeachLoss::where_mismatch) return loss_of_masked_logits;
    return [](const Tensor& logits, const Tensor& labels) { return cross_entropy(logits, labels); };
}

}  // namespace engine
