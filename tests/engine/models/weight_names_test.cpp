#include "models/weight_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "support/expectations.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::set<std::string> weight_model{"a.weight", "a.bias", "b.0.weight", "b.0.bias"};
const std::set<std::string> bert_names{"bert.embeddings.word_embeddings.weight",
                                       "bert.embeddings.LayerNorm.weight",
                                       "bert.embeddings.LayerNorm.bias",
                                       "bert.encoder.layer.0.output.LayerNorm.weight",
                                       "bert.encoder.layer.0.output.LayerNorm.bias",
                                       "cls.predictions.bias"};

Tensor name_row() { return Tensor::zeros({3}, DType::f32, Device{}); }

TensorMap named_rows(const std::set<std::string>& names, const std::string& before = "") {
    TensorMap out;
    for (const std::string& name : names) out[before + name] = name_row();
    return out;
}

std::set<std::string> names_in(const TensorMap& file) {
    std::set<std::string> out;
    for (const auto& [name, tensor] : file) out.insert(name);
    return out;
}

/// The names after fitting, which must be the model's.
NameFit expect_fits(TensorMap file, const std::set<std::string>& to = weight_model,
                    const std::string& wanted = "") {
    const NameFit fit = fit_names(to, "w.pt", wanted, file);
    EXPECT_EQ(names_in(file), to);
    return fit;
}

TEST(WeightNames, MayHaveAnyOnePrefix) {
    for (const char* prefix : {"", "module.", "_orig_mod.", "module._orig_mod.", "model.", "net.",
                               "backbone.", "module.encoder_q.", "student.model.", "0."})
        EXPECT_THAT(expect_fits(named_rows(weight_model, prefix)).left_out, IsEmpty()) << prefix;
}

TEST(WeightNames, MayHaveAPrefixLess) {
    TensorMap bare;
    for (const std::string& name : bert_names) {
        const bool of_bert = name.starts_with("bert.");
        bare[of_bert ? name.substr(5) : name] = name_row();
    }
    EXPECT_EQ(expect_fits(bare, bert_names).added, "bert.");
    TensorMap wrapped;
    for (const auto& [name, tensor] : bare) wrapped["module." + name] = tensor;
    EXPECT_EQ(expect_fits(wrapped, bert_names).added, "bert.");
}

TEST(WeightNames, KeepTheirPlaceWhereHalfOfTheModelWouldStillBeMissing) {
    TensorMap file{{"x.a.weight", name_row()}, {"y.weight", name_row()}};
    fit_names(weight_model, "w.pt", "", file);
    EXPECT_EQ(names_in(file), (std::set<std::string>{"x.a.weight", "y.weight"}));
}

TEST(WeightNames, OfAnotherModelBesideItAreLeftOutAndTold) {
    TensorMap file = named_rows(weight_model, "net.");
    file["loss.weight"] = name_row();
    file["net_steps"] = Tensor::zeros({}, DType::i64, Device{});
    EXPECT_THAT(expect_fits(file).left_out, ElementsAre("loss.weight"));
}

TEST(WeightNames, UnderSeveralPrefixesAreChosenFrom) {
    TensorMap file = named_rows(weight_model, "encoder_q.");
    for (auto& [name, tensor] : named_rows(weight_model, "encoder_k.")) file[name] = tensor;
    const auto fit_to = [&](const std::string& wanted) {
        TensorMap copy = file;
        fit_names(weight_model, "w.pt", wanted, copy);
        return names_in(copy);
    };
    EXPECT_THAT(message_of(ErrorCode::data, [&] { fit_to(""); }),
                AllOf(HasSubstr("encoder_k, encoder_q"), HasSubstr("w.pt")));
    EXPECT_EQ(fit_to("encoder_q"), weight_model);
    EXPECT_EQ(fit_to("encoder_k."), weight_model);
    EXPECT_THAT(
        message_of(ErrorCode::data, [&] { fit_to("teacher"); }),
        HasSubstr("holds nothing under teacher: its names begin with encoder_k, encoder_q"));
}

TEST(WeightNames, OfOlderFilesOfBertAndGpt2AreTheModels) {
    TensorMap old;
    for (std::string name : bert_names) {
        if (name.ends_with("LayerNorm.weight")) name.replace(name.size() - 6, 6, "gamma");
        if (name.ends_with("LayerNorm.bias")) name.replace(name.size() - 4, 4, "beta");
        old[name] = name_row();
    }
    EXPECT_TRUE(old.contains("bert.embeddings.LayerNorm.gamma"));
    expect_fits(old, bert_names);
    const std::set<std::string> gpt{"transformer.wte.weight", "lm_head.weight"};
    expect_fits({{"transformer.wte.weight", name_row()}, {"lm_head.decoder.weight", name_row()}},
                gpt);
}

TEST(WeightNames, OfBuffersHeadsAndCountersThatTheModelLacksGo) {
    const Tensor counter = Tensor::zeros({}, DType::i64, Device{});
    TensorMap file = named_rows(bert_names);
    file["bert.embeddings.position_ids"] = name_row();
    file["bert.embeddings.token_type_ids"] = name_row();
    file["bert.pooler.dense.weight"] = file["bert.pooler.dense.bias"] = name_row();
    file["cls.seq_relationship.weight"] = file["cls.seq_relationship.bias"] = name_row();
    file["total_ops"] = file["bert.encoder.total_params"] = name_row();
    file["n_averaged"] = counter;
    EXPECT_THAT(expect_fits(file, bert_names).left_out,
                ElementsAre("bert.pooler.dense.bias", "bert.pooler.dense.weight",
                            "cls.seq_relationship.bias", "cls.seq_relationship.weight"));
    const std::set<std::string> gpt{"transformer.wte.weight", "transformer.h.0.attn.c_attn.bias"};
    TensorMap masked = named_rows(gpt);
    masked["transformer.h.0.attn.bias"] = name_row();
    masked["transformer.h.0.attn.masked_bias"] = counter;
    EXPECT_THAT(expect_fits(masked, gpt).left_out, IsEmpty());
}

TEST(WeightNames, ThatAreUnknownStayForTheError) {
    TensorMap file = named_rows(weight_model);
    file["c.weight"] = name_row();
    fit_names(weight_model, "w.pt", "", file);
    EXPECT_TRUE(file.contains("c.weight"));
}

}  // namespace
}  // namespace engine
