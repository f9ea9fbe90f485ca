#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "made_models.h"
#include "ops/index/sparse.h"
#include "ops/shape/sum.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

using testing::ElementsAre;

std::unique_ptr<Model> made_dlrm(std::int64_t seed) {
    const Options options{{"embedding", std::int64_t{2}},
                          {"bottom", std::vector<std::int64_t>{4}},
                          {"top", std::vector<std::int64_t>{3}}};
    const FieldSpec dense{.name = "dense", .kind = FieldKind::features, .shape = {3}};
    const FieldSpec ids{.name = "ids",
                        .kind = FieldKind::indices,
                        .dtype = DType::i64,
                        .shape = {2},
                        .cardinality = 5};
    return test::made_model("dlrm", options, {{dense, ids}, 1}, seed, default_device());
}

Tensor ids() { return Tensor::of({4, 1, 0, 0, 4, 3}, {3, 2}, DType::i64); }
Tensor numbers() { return Tensor::of({1, 2, 3, -1, 0.5, 2, 0, 0, 0.25}, {3, 3}); }

TEST(Dlrm, HasTheNamesAndShapesOfTheReferenceImplementation) {
    const auto model = made_dlrm(1);
    std::vector<std::string> found;
    for (const Parameter& parameter : model->parameters())
        found.push_back(parameter.name + " " + to_string(parameter.tensor.shape()));
    EXPECT_THAT(found,
                ElementsAre("emb_l.0.weight (5, 2)", "emb_l.1.weight (5, 2)",
                            "bot_l.0.weight (4, 3)", "bot_l.0.bias (4)", "bot_l.2.weight (2, 4)",
                            "bot_l.2.bias (2)", "top_l.0.weight (3, 5)", "top_l.0.bias (3)",
                            "top_l.2.weight (1, 3)", "top_l.2.bias (1)"));
}

std::vector<double> layer(const Model& model, const std::string& name, const std::vector<double>& x,
                          bool activated) {
    std::vector<double> weight, out;
    for (const Parameter& parameter : model.parameters()) {
        if (parameter.name == name + ".weight") weight = parameter.tensor.values();
        if (parameter.name == name + ".bias") out = parameter.tensor.values();
    }
    for (std::size_t o = 0; o < out.size(); ++o) {
        for (std::size_t i = 0; i < x.size(); ++i) out[o] += weight[o * x.size() + i] * x[i];
        if (activated) out[o] = std::max(out[o], 0.0);
    }
    return out;
}

TEST(Dlrm, JoinsTheBottomsOutputAndTheProductsOfPairsRowByRow) {
    const auto made = made_dlrm(7);
    Model& model = *made;
    const std::vector<double> found = model.forward({numbers(), ids()}).front().values();
    const std::vector<double> x = numbers().values(), id = ids().values();
    for (std::size_t r = 0; r < 3; ++r) {
        const std::vector<double> in(x.begin() + static_cast<std::ptrdiff_t>(3 * r),
                                     x.begin() + static_cast<std::ptrdiff_t>(3 * r + 3));
        std::vector<std::vector<double>> vectors{
            layer(model, "bot_l.2", layer(model, "bot_l.0", in, true), true)};
        for (std::size_t t = 0; t < 2; ++t) {
            const auto rows = model.parameters()[t].tensor.values();
            const auto row = static_cast<std::size_t>(id[2 * r + t]);
            vectors.push_back({rows[2 * row], rows[2 * row + 1]});
        }
        std::vector<double> joined = vectors[0];
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < i; ++j)
                joined.push_back(vectors[i][0] * vectors[j][0] + vectors[i][1] * vectors[j][1]);
        const double logit =
            layer(model, "top_l.2", layer(model, "top_l.0", joined, true), false)[0];
        // Sums of at most five products, six layers deep, of numbers below 10.
        EXPECT_NEAR(found[r], logit, 6 * 5 * 10 * 0x1p-24);
    }
}

TEST(Dlrm, SparseGradientsOfItsTablesAreTheDenseOnes) {
    const auto made_dense = made_dlrm(7), made_sparse = made_dlrm(7);
    Model &dense = *made_dense, &sparse = *made_sparse;
    sparse.sparse_gradients = true;
    for (Model* model : {&dense, &sparse}) backward(sum(model->forward({numbers(), ids()}).front()));
    for (std::size_t i = 0; i < dense.parameters().size(); ++i) {
        const Tensor grad = sparse.parameters()[i].tensor.grad();
        EXPECT_EQ(grad.is_sparse(), i < 2) << sparse.parameters()[i].name;
        EXPECT_EQ(to_dense(grad).values(), dense.parameters()[i].tensor.grad().values());
    }
}

}  // namespace
}  // namespace engine
