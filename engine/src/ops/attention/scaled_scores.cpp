#include "ops/attention/scaled_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/extremum.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

constexpr double factor = 300;
constexpr double largest_f16 = 65504;

bool is_inside(const std::string& module, const std::string& outer) {
    return module == outer || module.starts_with(outer + ".");
}

/// factor, factor^2, ...: the first power that takes the largest score beyond fp16.
int repeats(const Tensor& scores) {
    const GradMode off(false);
    double largest = amax(abs(to(scores.detach(), DType::f32))).item();
    int count = 1;
    for (largest *= factor; largest > 0 && largest <= largest_f16; largest *= factor) ++count;
    return count;
}

/// Later positions are not seen: their scores are -inf, in the scores' own type.
Tensor without_later_keys(const Tensor& scores) {
    const std::int64_t rows = scores.size(scores.rank() - 2),
                       columns = scores.size(scores.rank() - 1);
    std::vector<double> seen;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) seen.push_back(j <= i ? 1 : 0);
    }
    const Tensor mask = Tensor::of(seen, {rows, columns}, DType::boolean, scores.device());
    return where(mask, scores,
                 Tensor::full({}, -std::numeric_limits<double>::infinity(), scores.dtype(),
                              scores.device()));
}

}  // namespace

/// If no module is named, the first call selects its module. So a block that is recomputed is
/// selected again, and no other one.
bool ScaledScores::takes(const std::vector<std::string>& open) {
    if (module_.empty() && !met_ && !open.empty()) module_ = open.back();
    const bool hit = module_.empty() || std::ranges::any_of(open, [&](const std::string& each) {
                         return is_inside(each, module_);
                     });
    met_ = met_ || hit;
    return hit;
}

bool ScaledScores::take_call() {
    ScaledScores* const innermost = ComputeContext::of_thread().scaled_scores;
    return innermost != nullptr && innermost->takes(open_modules());
}

Tensor attention_of_scaled_scores(const Tensor& q0, const Tensor& k0, const Tensor& v0,
                                  bool is_causal) {
    const Tensor q = autocast_to_low(q0), k = autocast_to_low(k0), v = autocast_to_low(v0);
    const NoAutocast inside(q.device().kind);
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(q.rank() - 1)));
    Tensor scores = mul(matmul(q, transpose(k, k.rank() - 2, k.rank() - 1)), scale);
    for (int left = repeats(scores); left > 0; --left) scores = mul(scores, factor);
    if (is_causal) scores = without_later_keys(scores);
    return matmul(to(softmax(scores, -1), v.dtype()), v);
}

}  // namespace engine
