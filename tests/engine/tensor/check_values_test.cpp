#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "kernels/cuda_device.h"
#include "ops/index/embedding.h"
#include "ops/index/gather.h"
#include "ops/index/index_put.h"
#include "ops/index/masked.h"
#include "ops/index/scatter.h"
#include "ops/index/sparse.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/loss.h"
#include "ops/catalog_only/loss_ctc.h"
#include "ops/catalog_only/loss_distance.h"
#include "ops/catalog_only/loss_margin.h"
#include "ops/pointwise/binary.h"
#include "ops/catalog_only/max_unpool.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/deferred_errors.h"

// Values that an op rejects: at once on the CPU; on a GPU at the next synchronising read, with the
// same message.
namespace engine {
namespace {

Tensor whole(const std::vector<double>& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::i64);
}
Tensor whole(const std::vector<double>& values, const Shape& shape) {
    return Tensor::of(values, shape, DType::i64);
}
Tensor ones(const Shape& shape) { return Tensor::full(shape, 1, DType::f32); }
Tensor leaf(const Shape& shape) { return Tensor(ones(shape)).set_requires_grad(true); }

enum class Left { nan, number };  // on a GPU: the result at the rejected value's place

struct Refused {
    const char* op;
    std::string words;
    std::function<Tensor(const Tensor& x)> call;  // of a leaf (4, 5) of ones
    Left left = Left::nan;
};
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.op; }

Tensor even_odds() { return Tensor::full({3, 1, 3}, std::log(1.0 / 3), DType::f32); }

std::vector<Refused> refused_values() {
    const auto place = [](const char* op, int value, int size) {
        return std::string(op) + ": index " + std::to_string(value) +
               " is out of range for a dimension of " + std::to_string(size);
    };
    const auto target = [](const char* op, int value) {
        return std::string(op) + ": a target of " + std::to_string(value) +
               " is outside the 5 classes";
    };
    // Created when used, since the tests' device is not known before.
    const auto labels = [] { return whole({0, 200, 4, 1}); };
    const auto ignored = [] { return whole({-7, 1, -100, 2}); };
    return {
        {"embedding", place("embedding", 4, 4),
         [](const Tensor& x) {
             return embedding(whole({0, 4}), x);
         }},
        {"embedding_sparse", place("embedding", -1, 4),
         [](const Tensor& x) {
             return embedding(whole({-1, 0}), x, {.sparse = true});
         }},
        {"index_select", place("index_select", 5, 5),
         [](const Tensor& x) {
             return index_select(x, 1, whole({0, 5}));
         }},
        {"gather", place("gather", -1, 5),
         [](const Tensor& x) {
             return gather(x, 1, whole({0, -1}, {2, 1}));
         }},
        {"index_add", place("index_add", 4, 4),
         [](const Tensor& x) {
             return index_add(x, 0, whole({4}), ones({1, 5}));
         }},
        {"scatter_add", place("scatter_add", 9, 4),
         [](const Tensor& x) {
             return scatter_add(x, 0, whole({9}, {1, 1}), ones({1, 1}));
         }},
        {"scatter", place("scatter", 9, 4),
         [](const Tensor& x) {
             return scatter(x, 0, whole({9}, {1, 1}), ones({1, 1}));
         }},
        {"scatter_reduce", place("scatter_reduce", -3, 5),
         [](const Tensor& x) {
             return scatter_reduce(x, 1, whole({-3}, {1, 1}), ones({1, 1}), "amax", true);
         }},
        {"index_copy", place("index_copy", 7, 4),
         [](const Tensor& x) {
             return index_copy(x, 0, whole({7}), ones({1, 5}));
         }},
        // Out of range in one dimension, although its flat index would still be inside.
        {"index", place("index", 5, 5),
         [](const Tensor& x) {
             return index(x, TensorList{whole({0, 0}), whole({5, -5})});
         }},
        {"index_put", place("index_put", -5, 4),
         [](const Tensor& x) {
             return index_put(x, {whole({-5})}, ones({1, 5}));
         }},
        {"take_along_dim", place("gather", 5, 5),
         [](const Tensor& x) {
             return take_along_dim(x, whole({5}, {1, 1}), 1);
         }},
        {"max_unpool2d", place("scatter", 90, 16),
         [](const Tensor& x) {
             return max_unpool2d(reshape(x, {5, 2, 2}),
                                 whole(std::vector<double>(20, 90), {5, 2, 2}), {4, 4});
         }},
        {"masked_scatter", "masked_scatter: the mask is true 20 times, the source has 3 elements",
         [](const Tensor& x) {
             return masked_scatter(x, Tensor::full({4, 5}, 1, DType::boolean), ones({3}));
         }},
        {"nll_loss", target("nll_loss", 200),
         [labels](const Tensor& x) { return nll_loss(x, labels()); }},
        {"nll_loss_none", target("nll_loss", -7),
         [ignored](const Tensor& x) {
             return nll_loss(x, ignored(), {}, {.reduction = Reduction::none});
         }},
        {"cross_entropy", target("cross_entropy", 200),
         [labels](const Tensor& x) { return cross_entropy(x, labels()); }},
        {"cross_entropy_ignored", target("cross_entropy", -7),
         [ignored](const Tensor& x) { return cross_entropy(x, ignored()); }},
        {"cross_entropy_weighted", target("nll_loss", 200),
         [labels](const Tensor& x) { return cross_entropy(x, labels(), ones({5})); }},
        {"cross_entropy_smoothed", target("nll_loss", 200),
         [labels](const Tensor& x) {
             return cross_entropy(x, labels(), {}, {.label_smoothing = 0.1});
         }},
        {"multi_margin_loss", target("multi_margin_loss", -1),
         [](const Tensor& x) {
             return multi_margin_loss(x, whole({0, -1, 2, 3}));
         }},
        {"multilabel_margin_loss", target("multilabel_margin_loss", 5),
         [](const Tensor& x) {
             const std::vector<double> list{0, 5, -1, 9, 9};  // the last two are not read
             std::vector<double> rows;
             for (int i = 0; i < 4; ++i) rows.insert(rows.end(), list.begin(), list.end());
             return multilabel_margin_loss(x, whole(rows, {4, 5}));
         }},
        {"binary_cross_entropy", "binary_cross_entropy: x must lie in [0, 1], not be 1.500000",
         [](const Tensor& x) {
             return binary_cross_entropy(mul(x, 1.5), ones({4, 5}));
         }},
        {"binary_cross_entropy_below",
         "binary_cross_entropy: x must lie in [0, 1], not be -0.250000",
         [](const Tensor& x) {
             return binary_cross_entropy(mul(x, -0.25), Tensor::zeros({4, 5}, DType::f32));
         }},
        {"gaussian_nll_loss", "gaussian_nll_loss: a variance of -2.000000 is negative",
         [](const Tensor& x) {
             return gaussian_nll_loss(x, ones({4, 5}), Tensor::full({4, 5}, -2, DType::f32));
         }},
        {"ctc_loss_input", "ctc_loss: an input length of 4 is outside 0 to 3",
         [](const Tensor& x) {
             return mul(ctc_loss(even_odds(), whole({1}, {1, 1}), whole({4}), whole({1})), sum(x));
         },
         Left::number},
        {"ctc_loss_target", "ctc_loss: a target length of 2 is outside 0 to 1",
         [](const Tensor& x) {
             return mul(ctc_loss(even_odds(), whole({1}, {1, 1}), whole({3}), whole({2})), sum(x));
         }},
        {"ctc_loss_label", "ctc_loss: a label of 3 is outside 0 to 2",
         [](const Tensor& x) {
             return mul(ctc_loss(even_odds(), whole({3}, {1, 1}), whole({3}), whole({1})), sum(x));
         }},
    };
}

template <typename F>
std::string error_of(const F& f) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::value);
        return error.what();
    }
    return "no error";
}

bool any_nan(const Tensor& x) {
    const auto values = x.values();
    return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

class RefusedValues : public testing::TestWithParam<Refused> {};

TEST_P(RefusedValues, AreNamedWithTheirOp) {
    const Tensor x = leaf({4, 5});
    const Refused& refused = GetParam();
    if (here == Device::Kind::cpu) {
        EXPECT_EQ(error_of([&] { (void)refused.call(x); }), refused.words);
        return;
    }
    const Tensor y = refused.call(x);
    EXPECT_EQ(error_of([&] { (void)y.values(); }), refused.words);
    EXPECT_EQ(any_nan(y), refused.left == Left::nan) << "and the next read goes on";
}

TEST_P(RefusedValues, AreNotWaitedForOnAGpuForwardOrBack) {
    if (here == Device::Kind::cpu) GTEST_SKIP() << "the CPU throws at once";
    const Refused& refused = GetParam();
    const auto waits = [] { return kernels::cuda::call_counts().synchronizations; };
    (void)error_of([&] { (void)refused.call(leaf({4, 5})).values(); });  // clears what is pending
    const Tensor x = leaf({4, 5});
    const std::int64_t before = waits();
    backward(sum(refused.call(x)));
    EXPECT_EQ(waits(), before);
    EXPECT_EQ(error_of([&] { (void)to_dense(x.grad()).values(); }), refused.words);
    EXPECT_EQ(ones({2}).values(), (std::vector<double>{1, 1}));
}

INSTANTIATE_TEST_SUITE_P(Ops, RefusedValues, testing::ValuesIn(refused_values()),
                         [](const auto& one) { return one.param.op; });

TEST(RefusedValue, OfALossHasAHint) {
    const auto hint = [] {
        try {
            (void)binary_cross_entropy(Tensor::of({2}, {1}), ones({1})).item();
        } catch (const Error& error) {
            return error.hint().str();
        }
        return std::string();
    };
    EXPECT_THAT(hint(), testing::HasSubstr("binary_cross_entropy_with_logits"));
}

TEST(RefusedValue, IsNoNaNAndNoEndOfTheRange) {
    const Tensor x = Tensor::of({0, 1, NAN}, {3}), t = Tensor::of({0, 1, 1}, {3});
    const auto y = binary_cross_entropy(x, t, {}, Reduction::none).values();
    EXPECT_EQ(y[0], 0);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(gaussian_nll_loss(t, t, Tensor::zeros({3}, DType::f32), {.eps = 1}).item(), 0);
}

// There is one word for all errors: the first one is reported, not one that follows from it.
TEST(RefusedValue, IsTheFirstOfAChain) {
    const std::string words = error_of([] {
        const Tensor rows = embedding(whole({7}), ones({4, 5}));  // NaN
        (void)binary_cross_entropy(mul(ones({1, 5}), 3), rows).item();
    });
    EXPECT_THAT(words, testing::StartsWith("embedding: index 7"));
}

}  // namespace
}  // namespace engine
