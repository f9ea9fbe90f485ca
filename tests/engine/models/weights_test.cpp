#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "engine/base/error.h"
#include "io/safetensors/tensor_file.h"
#include "made_models.h"
#include "models/model.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<Model> language_model(std::int64_t seed, bool tied) {
    const Options options{{"embedding", std::int64_t{4}},
                          {"hidden", std::int64_t{4}},
                          {"layers", std::int64_t{1}},
                          {"tied", tied}};
    return test::made_model("rnn-lm", options, test::windows(35, 11), seed);
}

std::unique_ptr<Model> made_lenet(std::int64_t seed) {
    return test::made_model("lenet", {}, test::pictures({1, 28, 28}, 10), seed);
}

std::unique_ptr<Model> small_bert(std::int64_t seed) {
    const Options options{{"layers", std::int64_t{1}},
                          {"width", std::int64_t{8}},
                          {"heads", std::int64_t{2}},
                          {"feed_forward", std::int64_t{12}},
                          {"context", std::int64_t{6}},
                          {"dropout", 0.0}};
    return test::made_model("bert", options, test::windows(4, 11), seed);
}

/// PyTorch's state_dict of the tied model contains the table under both names.
TensorMap pytorch_state(const Model& model) {
    TensorMap state = saved_state(model);
    state["decoder.weight"] = state.at("encoder.weight");
    return state;
}

class TiedWeights : public testing::Test {
protected:
    std::string file(const TensorMap& tensors) {
        const std::string path = (folder_ / "weights.safetensors").string();
        save_tensors(path, tensors);
        return path;
    }
    /// Loads the file into another model and expects the weights of `from_`.
    void expect_loads(const TensorMap& tensors) {
        const auto made_model = language_model(2, true);
        Model& model = *made_model;
        load_weights(model, file(tensors));
        EXPECT_EQ(saved_state(model).at("encoder.weight").values(),
                  saved_state(from_).at("encoder.weight").values());
    }
    /// The sentence of the error that rejects it.
    std::string error_text(const TensorMap& tensors, bool tied = true) {
        const auto made_model = language_model(2, tied);
        Model& model = *made_model;
        const auto before = saved_state(model).at("rnn.weight_ih_l0").values();
        const std::string text =
            message_of(ErrorCode::data, [&] { load_weights(model, file(tensors)); });
        EXPECT_EQ(saved_state(model).at("rnn.weight_ih_l0").values(), before);
        return text;
    }

    const std::unique_ptr<Model> made_from_ = language_model(1, true);
    const Model& from_ = *made_from_;
    const test_support::TempFolder folder_;
};

TEST_F(TiedWeights, MayStandUnderBothNames) { expect_loads(pytorch_state(from_)); }

TEST_F(TiedWeights, MayStandUnderEitherName) {
    expect_loads(saved_state(from_));
    TensorMap second = pytorch_state(from_);
    second.erase("encoder.weight");
    expect_loads(second);
}

TEST_F(TiedWeights, AreRefusedWhereTheirTwinsDiffer) {
    TensorMap state = pytorch_state(from_);
    std::vector<double> values = state.at("encoder.weight").values();
    values.back() = -values.back();
    state["decoder.weight"] = Tensor::of(values, {11, 4}, DType::f32, Device{});
    const auto differs = HasSubstr(
        "does not fit the model: decoder.weight differs from encoder.weight, to which the model "
        "ties it.");
    EXPECT_THAT(error_text(state), differs);
    state["decoder.weight"] = Tensor::zeros({12, 4}, DType::f32, Device{});
    EXPECT_THAT(error_text(state), differs);
    state.erase("decoder.bias");
    EXPECT_THAT(error_text(state),
                AllOf(HasSubstr("decoder.weight differs"), HasSubstr("; decoder.bias is missing")));
}

TEST_F(TiedWeights, OfAnotherShapeAreRefusedUnderEitherName) {
    TensorMap state = saved_state(from_);
    state.erase("encoder.weight");
    EXPECT_THAT(error_text(state), HasSubstr("encoder.weight is missing"));
    state["decoder.weight"] = Tensor::zeros({12, 4}, DType::f32, Device{});
    EXPECT_THAT(error_text(state), HasSubstr("encoder.weight has shape (12, 4), not (11, 4)"));
}

TEST_F(TiedWeights, AModelWithoutTiesTakesTwoTables) {
    const auto made_loose = language_model(3, false);
    const Model& loose = *made_loose;
    const auto made_model = language_model(2, false);
    Model& model = *made_model;
    load_weights(model, file(saved_state(loose)));
    EXPECT_EQ(saved_state(model).at("decoder.weight").values(),
              saved_state(loose).at("decoder.weight").values());
    EXPECT_THAT(error_text(saved_state(from_), false), HasSubstr("decoder.weight is missing"));
}

TEST_F(TiedWeights, AreReadFromPyTorchsFilesAsFromSafetensors) {
    const std::filesystem::path torch(HALFTONE_TORCH_FILES);
    const TensorMap wanted = load_tensors(torch / "language_model.safetensors");
    // In the second file the weights are below `state_dict`, with the prefix of DataParallel.
    for (const char* file : {"language_model.pt", "nested.pt"}) {
        const auto made_model = language_model(2, true);
        Model& model = *made_model;
        load_weights(model, (torch / file).string());
        for (const auto& [name, tensor] : saved_state(model))
            EXPECT_EQ(tensor.values(), wanted.at(name).values()) << file << ": " << name;
    }
    const auto made_model = language_model(2, true);
    Model& model = *made_model;
    EXPECT_THAT(message_of(ErrorCode::data,
                           [&] { load_weights(model, (torch / "parameters.pt").string()); }),
                HasSubstr("does not fit the model: encoder.weight is missing"));
}

TEST_F(TiedWeights, AStateInMemoryIsTakenLikeAFile) {
    const auto made_model = language_model(2, true);
    Model& model = *made_model;
    load_state(model, pytorch_state(from_));
    EXPECT_EQ(saved_state(model).at("encoder.weight").values(),
              saved_state(from_).at("encoder.weight").values());
    TensorMap state = pytorch_state(from_);
    state["decoder.weight"] = Tensor::zeros({11, 4}, DType::f32, Device{});
    EXPECT_THAT(message_of(ErrorCode::value, [&] { load_state(model, state); }),
                HasSubstr("decoder.weight differs from encoder.weight"));
}

/// Files of a model with names and tensors of other programs.
class ForeignWeights : public testing::Test {
protected:
    std::string file(const TensorMap& tensors) {
        const std::string path = (folder_ / "weights.safetensors").string();
        save_tensors(path, tensors);
        return path;
    }
    const std::unique_ptr<Model> made_from_ = made_lenet(1);
    const Model& from_ = *made_from_;
    const test_support::TempFolder folder_;
};

TEST_F(ForeignWeights, OfAnotherModelAreDescribedByFiveNamesAndACount) {
    const auto made_model = made_lenet(2);
    Model& model = *made_model;
    TensorMap other;
    for (int i = 0; i < 120; ++i)
        other["layer" + std::to_string(i) + ".weight"] = Tensor::zeros({2}, DType::f32, Device{});
    const std::string said = message_of(ErrorCode::data, [&] { load_weights(model, file(other)); });
    EXPECT_THAT(said, HasSubstr("conv1.weight is missing"));
    EXPECT_THAT(said, HasSubstr("; and 125 more."));
    EXPECT_LT(said.size(), 400U);
}

TEST_F(ForeignWeights, AreChosenByTheirPrefix) {
    const auto made_second = made_lenet(3);
    const Model& second = *made_second;
    TensorMap both;
    for (const auto& [name, tensor] : saved_state(from_)) both["student." + name] = tensor;
    for (const auto& [name, tensor] : saved_state(second)) both["teacher." + name] = tensor;
    const auto made_model = made_lenet(2);
    Model& model = *made_model;
    EXPECT_THAT(message_of(ErrorCode::data, [&] { load_weights(model, file(both)); }),
                HasSubstr("student, teacher"));
    load_weights(model, file(both), Head::read, "teacher");
    EXPECT_EQ(saved_state(model).at("fc1.weight").values(),
              saved_state(second).at("fc1.weight").values());
}

TEST_F(ForeignWeights, OfABareBertHaveNoHeadWhichIsDrawnAndTold) {
    const auto made_bert = small_bert(1), made_model = small_bert(2);
    const Model& bert = *made_bert;
    TensorMap bare;
    for (const auto& [name, tensor] : saved_state(bert))
        if (name.starts_with("bert.")) bare[name.substr(5)] = tensor;
    bare["pooler.dense.weight"] = Tensor::zeros({8, 8}, DType::f32, Device{});
    Model& model = *made_model;
    const auto drawn = saved_state(model);
    const std::vector<Message> notes = load_weights(model, file(bare));
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_THAT(notes[0].str(), HasSubstr("left out: bert.pooler.dense.weight"));
    EXPECT_THAT(notes[1].str(), HasSubstr("head cls"));
    for (const auto& [name, tensor] : saved_state(model)) {
        const auto& wanted = name.starts_with("bert.") ? saved_state(bert) : drawn;
        EXPECT_EQ(tensor.values(), wanted.at(name).values()) << name;
    }
    bare.erase("embeddings.LayerNorm.bias");
    EXPECT_THAT(message_of(ErrorCode::data, [&] { load_weights(model, file(bare)); }),
                HasSubstr("bert.embeddings.LayerNorm.bias is missing"));
}

TEST_F(ForeignWeights, MayCountBatchesInFloatingPoint) {
    const auto made = test::made_model("resnet18", {}, test::pictures({3, 32, 32}, 10), 2);
    Model& model = *made;
    TensorMap state = saved_state(model);
    int counters = 0;
    for (auto& [name, tensor] : state) {
        if (!name.ends_with("num_batches_tracked")) continue;
        tensor = Tensor::of({7}, tensor.shape(), DType::f16, Device{});
        ++counters;
    }
    ASSERT_GT(counters, 0);
    load_weights(model, file(state));
    EXPECT_EQ(saved_state(model).at("bn1.num_batches_tracked").values().front(), 7);
}

}  // namespace
}  // namespace engine
