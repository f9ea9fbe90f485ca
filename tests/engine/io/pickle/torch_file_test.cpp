#include "io/pickle/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "io/safetensors/tensor_file.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// Files that tests/peer/torch_files.py wrote.
fs::path file(const std::string& name) { return fs::path(HALFTONE_TORCH_FILES) / name; }

void expect_reads(const std::string& name) {
    SCOPED_TRACE(name);
    const TensorMap wanted = load_tensors(file(name + ".safetensors"));
    const TensorMap got = load_torch_weights(file(name + ".pt")).tensors;
    ASSERT_EQ(got.size(), wanted.size());
    for (const auto& [key, tensor] : wanted) {
        SCOPED_TRACE(key);
        ASSERT_TRUE(got.contains(key));
        const Tensor& read = got.at(key);
        EXPECT_EQ(read.dtype(), tensor.dtype());
        ASSERT_EQ(read.shape(), tensor.shape());
        ASSERT_TRUE(read.is_contiguous());
        EXPECT_EQ(std::memcmp(read.data(), tensor.data(), tensor.bytes()), 0);
    }
}

TEST(TorchFile, HoldsEveryTypeScalarsAndEmptyTensors) { expect_reads("every_type"); }

TEST(TorchFile, MayShareStoragesAndWalkThemInAnyOrder) { expect_reads("every_walk"); }

TEST(TorchFile, OfEachProtocolIsRead) {
    for (const char* protocol : {"2", "3", "4", "5"})
        expect_reads(std::string("protocol_") + protocol);
}

TEST(TorchFile, OfAModelWithTiedWeightsHoldsBothNames) { expect_reads("language_model"); }

TEST(TorchFile, MayNestTheTensorsAmongOtherValuesUnderTheNamesOfWrappers) {
    expect_reads("nested");
    expect_reads("parameters");
}

TEST(TorchFile, WidensSmallIntegers) { expect_reads("small_integers"); }

TEST(TorchFile, MayHoldPlainValuesAndObjectsBesideTheTensors) {
    for (const char* name : {"flat", "under_net", "lightning", "averaged", "default_dict"})
        expect_reads(name);
    EXPECT_FALSE(fs::exists("gotcha"));
}

TEST(TorchFile, OfABigEndianMachineIsTurned) { expect_reads("big_endian"); }

TEST(TorchFile, IsToldByItsContent) {
    EXPECT_TRUE(is_torch_file(file("every_type.pt")));
    EXPECT_TRUE(is_torch_file(file("bad_older_form.pt")));
    EXPECT_FALSE(is_torch_file(file("every_type.safetensors")));
    EXPECT_FALSE(is_torch_file(file("absent.pt")));
    EXPECT_FALSE(is_torch_file(fs::path(HALFTONE_TORCH_FILES)));
}

TEST(TorchFile, ThatIsHostileOrDamagedIsRefusedWithItsReason) {
    std::ifstream in(file("bad.json"));
    const auto reasons = nlohmann::json::parse(in);
    ASSERT_GT(reasons.size(), 24U);
    for (const auto& [name, reason] : reasons.items()) {
        SCOPED_TRACE(name);
        const std::string said =
            message_of(ErrorCode::data, [&] { load_torch_weights(file(name)); });
        EXPECT_THAT(said, HasSubstr(reason.get<std::string>()));
        EXPECT_THAT(said, HasSubstr(name));
    }
    EXPECT_FALSE(fs::exists("gotcha")) << "a pickle was executed";
}

TEST(TorchFile, CutAnywhereIsRefused) {
    std::ifstream in(file("every_type.pt"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    const test_support::TempFolder folder;
    for (std::size_t length = 4; length < whole.size(); length += 37) {
        const std::string cut = folder.write("cut.pt", whole.substr(0, length));
        EXPECT_FALSE(message_of(ErrorCode::data, [&] { load_torch_weights(cut); }).empty());
    }
}

TEST(TorchFile, WithAnyByteOfItsPickleChangedIsReadOrRefused) {
    std::ifstream in(file("every_walk.pt"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    const test_support::TempFolder folder;
    int refused = 0;
    for (std::size_t at = 0; at < whole.size(); at += 5) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x5a);
        try {
            load_torch_weights(folder.write("changed.pt", changed));
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data) << error.what();
            ++refused;
        }
    }
    EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace engine
