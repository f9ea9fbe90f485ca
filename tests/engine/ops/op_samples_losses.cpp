#include "op_samples.h"
#include "ops/loss/loss_ctc.h"
#include "ops/loss/loss_distance.h"
#include "ops/loss/loss_likelihood.h"
#include "ops/loss/loss_margin.h"
#include "ops/reduce/softmax.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using In = const TensorList&;

Tensor signs(const Tensor& like, const Shape& shape) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(i % 3 == 0 ? -1 : 1);
    return Tensor::of(values, shape, like.dtype());
}
Tensor classes() { return Tensor::of({0, 3, 1}, {3}, DType::i64); }
Tensor label_lists() {
    return Tensor::of({2, 0, -1, 1, 3, -1, 0, 0, 1, 2, 3, -1}, {3, 4}, DType::i64);
}
constexpr auto none = Reduction::none, all = Reduction::sum;

}  // namespace

void add_losses_samples(std::vector<OpSample>& out) {
    const auto loss = [&](const char* op, const char* label, Function f, std::vector<Shape> shapes,
                          double low = -2, double high = 2) {
        out.push_back({op, label, std::move(f), std::move(shapes), low, high, {}, 30});
    };
    const std::vector<Shape> pair{{3, 4}, {3, 4}}, single{{3, 4}};
    loss(
        "smooth_l1_loss", "mean", [](In x) { return smooth_l1_loss(x[0], x[1]); }, pair);
    loss("smooth_l1_loss", "none", [](In x) { return smooth_l1_loss(x[0], x[1], none, 0.6); },
         {{3, 4}, {4}});
    loss(
        "smooth_l1_loss", "corner", [](In x) { return smooth_l1_loss(x[0], x[1], all, 0); }, pair);
    loss(
        "huber_loss", "mean", [](In x) { return huber_loss(x[0], x[1]); }, pair);
    loss(
        "huber_loss", "sum", [](In x) { return huber_loss(x[0], x[1], all, 0.7); }, pair);
    loss(
        "gaussian_nll_loss", "full",
        [](In x) { return gaussian_nll_loss(x[0], x[1], x[2], {.full = true}); },
        {{3, 4}, {3, 4}, {3, 4}}, 0.4, 2);
    loss(
        "gaussian_nll_loss", "rows",
        [](In x) { return gaussian_nll_loss(x[0], x[1], x[2], {.reduction = none}); },
        {{3, 4}, {3, 4}, {3}}, 0.4, 2);
    loss(
        "kl_div", "mean", [](In x) { return kl_div(x[0], x[1]); }, pair, 0.2, 2);
    loss(
        "kl_div", "batch",
        [](In x) { return kl_div(x[0], x[1], {.batch_mean = true, .log_target = true}); }, pair);
    loss(
        "poisson_nll_loss", "log", [](In x) { return poisson_nll_loss(x[0], x[1]); }, pair);
    loss(
        "poisson_nll_loss", "full",
        [](In x) {
            return poisson_nll_loss(x[0], x[1], {.log_input = false, .full = true, .eps = 0.01});
        },
        pair, 0.3, 2);
    loss("multilabel_soft_margin_loss", "weight",
         [](In x) { return multilabel_soft_margin_loss(x[0], x[1], x[2]); }, {{3, 4}, {3, 4}, {4}});
    loss(
        "multilabel_soft_margin_loss", "none",
        [](In x) { return multilabel_soft_margin_loss(x[0], x[1], {}, none); }, pair);
    loss(
        "cosine_embedding_loss", "mean",
        [](In x) { return cosine_embedding_loss(x[0], x[1], signs(x[0], {3}), -0.4); }, pair);
    loss("cosine_embedding_loss", "vectors",
         [](In x) { return cosine_embedding_loss(x[0], x[1], signs(x[0], {})); }, {{4}, {4}});
    const std::vector<Shape> three{{3, 4}, {3, 4}, {3, 4}};
    loss(
        "triplet_margin_loss", "two",
        [](In x) { return triplet_margin_loss(x[0], x[1], x[2], {.margin = 2}); }, three);
    loss(
        "triplet_margin_loss", "swapped",
        [](In x) {
            return triplet_margin_loss(x[0], x[1], x[2],
                                       {.margin = 3, .p = 3, .swap = true, .reduction = none});
        },
        three);
    loss(
        "hinge_embedding_loss", "mean",
        [](In x) {
            return hinge_embedding_loss(x[0], signs(x[0], {3, 4}));
        },
        single);
    loss(
        "margin_ranking_loss", "mean",
        [](In x) { return margin_ranking_loss(x[0], x[1], signs(x[0], {4}), 0.5); }, pair);
    loss(
        "soft_margin_loss", "mean", [](In x) { return soft_margin_loss(x[0], x[1]); }, pair);
    loss(
        "multi_margin_loss", "one", [](In x) { return multi_margin_loss(x[0], classes(), x[1]); },
        {{3, 4}, {4}}, 0.2, 2);
    loss(
        "multi_margin_loss", "squares",
        [](In x) {
            return multi_margin_loss(x[0], classes(), {},
                                     {.p = 2, .margin = 0.5, .reduction = none});
        },
        single);
    // The gradient of log_probs is only valid together with that of log_softmax. ctc_loss does not
    // take 16-bit types.
    loss("ctc_loss", "padded",
         [](In x) {
             const Tensor log_probs = log_softmax(widened(x[0]), 2);
             const Tensor y =
                 ctc_loss(log_probs, Tensor::of({1, 1, 2, 0}, {2, 2}, DType::i64),
                          Tensor::of({4, 3}, {2}, DType::i64), Tensor::of({2, 1}, {2}, DType::i64));
             return to(y, x[0].dtype());
         },
         {{4, 2, 3}});
    loss(
        "multilabel_margin_loss", "lists",
        [](In x) { return multilabel_margin_loss(x[0], label_lists()); }, single);
}

}  // namespace engine
