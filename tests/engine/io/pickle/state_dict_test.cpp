#include "io/pickle/state_dict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "io/pickle/torch_file.h"
#include "io/safetensors/tensor_file.h"
#include "support/expectations.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

/// Files that tests/peer/torch_files.py wrote.
fs::path torch_file(const std::string& name) {
    return fs::path(HALFTONE_TORCH_FILES) / (name + ".pt");
}

/// Expects the weights of the safetensors file of the same name, from this key.
void expect_found(const std::string& name, const std::string& key) {
    SCOPED_TRACE(name);
    const TorchWeights found = load_torch_weights(torch_file(name));
    EXPECT_EQ(found.key, key);
    EXPECT_THAT(found.others, IsEmpty());
    const TensorMap wanted = load_tensors(torch_file(name).replace_extension(".safetensors"));
    ASSERT_EQ(found.tensors.size(), wanted.size());
    for (const auto& [tensor, values] : wanted)
        EXPECT_EQ(found.tensors.at(tensor).values(), values.values()) << tensor;
}

TEST(StateDict, IsTheOnlyDictOfTensorsUnderAnyKey) {
    expect_found("under_net", "net");
    expect_found("nested_deep", "checkpoint.models.1");
    expect_found("with_optimizer", "params");
    expect_found("lightning", "state_dict");
    expect_found("default_dict", "weights");
    expect_found("flat", ".");
    expect_found("averaged", ".");
}

TEST(StateDict, IsNoTensorsBesideIt) { expect_found("with_tensors_beside", "net"); }

TEST(StateDict, OfTheUsualKeyIsTakenAndTheOthersAreListed) {
    const TorchWeights found = load_torch_weights(torch_file("usual_and_other"));
    EXPECT_EQ(found.key, "model");
    EXPECT_THAT(found.others, ElementsAre("ema"));
    EXPECT_EQ(load_torch_weights(torch_file("usual_and_other"), "ema").key, "ema");
}

TEST(StateDict, IsChosenAmongSeveral) {
    std::string said;
    try {
        load_torch_weights(torch_file("several"));
    } catch (const Error& error) {
        said = error.message().str() + " " + error.hint().str();
    }
    EXPECT_THAT(said, HasSubstr("it holds several dicts of tensors: net, ema"));
    EXPECT_THAT(said, HasSubstr("Set model.init_key"));
    const TorchWeights chosen = load_torch_weights(torch_file("several"), "ema");
    const TensorMap wanted = load_tensors(torch_file("several").replace_extension(".safetensors"));
    EXPECT_EQ(chosen.key, "ema");
    for (const auto& [name, tensor] : wanted)
        EXPECT_EQ(chosen.tensors.at(name).values(), tensor.values());
    EXPECT_THAT(
        message_of(ErrorCode::data, [&] { load_torch_weights(torch_file("several"), "teacher"); }),
        HasSubstr("net, ema"));
}

}  // namespace
}  // namespace engine
