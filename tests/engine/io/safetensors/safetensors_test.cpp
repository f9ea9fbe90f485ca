#include "io/safetensors/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <random>

#include "engine/base/error.h"
#include "io/safetensors/tensor_file.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

std::string raw_file(const std::string& header, std::size_t data_bytes) {
    const std::uint64_t length = header.size();
    std::string out(8, '\0');
    std::memcpy(out.data(), &length, 8);
    return out + header + std::string(data_bytes, '\1');
}

void write_raw(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string open_error(const std::string& bytes) {
    test_support::TempFolder dir;
    write_raw(dir / "w.safetensors", bytes);
    try {
        SafetensorsFile::open(dir / "w.safetensors");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_THAT(error.what(), HasSubstr("w.safetensors"));
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

TEST(Safetensors, ReadsAFileMadeByHand) {
    test_support::TempFolder dir;
    write_raw(dir / "w", raw_file(R"({"__metadata__":{"format":"pt"},)"
                                  R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]},)"
                                  R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}   )",
                                  11));
    const auto file = SafetensorsFile::open(dir / "w");
    ASSERT_EQ(file.tensors().size(), 2u);
    EXPECT_EQ(file.tensors()[0].name, "a");
    EXPECT_EQ(file.tensors()[0].dtype, "F32");
    EXPECT_THAT(file.tensors()[0].shape, ElementsAre(1, 2));
    EXPECT_EQ(file.find("b")->bytes.size(), 3u);
    EXPECT_EQ(file.find("b")->bytes[2], std::byte{1});
    EXPECT_EQ(file.find("c"), nullptr);
    EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST(Safetensors, WidensSmallIntegersIntoTensors) {
    test_support::TempFolder dir;
    const std::vector<std::int8_t> i8 = {-128, 5};
    const std::vector<std::int16_t> i16 = {-32768, 7};
    const std::vector<std::uint16_t> u16 = {65535, 1};
    const std::vector<std::uint32_t> u32 = {4294967295U, 2};
    write_safetensors(dir / "w", {{"i8", "I8", {2}, bytes_of(i8)},
                                  {"i16", "I16", {2, 1}, bytes_of(i16)},
                                  {"u16", "U16", {2}, bytes_of(u16)},
                                  {"u32", "U32", {2}, bytes_of(u32)}});
    const TensorMap read = load_tensors(dir / "w");
    EXPECT_THAT(read.at("i8").values(), ElementsAre(-128, 5));
    EXPECT_THAT(read.at("i16").values(), ElementsAre(-32768, 7));
    EXPECT_EQ(read.at("i16").shape(), (Shape{2, 1}));
    EXPECT_THAT(read.at("u16").values(), ElementsAre(65535, 1));
    EXPECT_THAT(read.at("u32").values(), ElementsAre(4294967295.0, 2));
}

TEST(Safetensors, ReadsBackWhatWasWritten) {
    test_support::TempFolder dir;
    const std::vector<float> weights = {1, -2, 3.5f, 0, 7, 8};
    const std::vector<std::uint8_t> mask = {1, 0, 1};
    const std::vector<double> scalar = {0.1};
    const std::vector<std::uint16_t> half = {0x3c00};
    write_safetensors(dir / "w",
                      {{"mask", "BOOL", {3}, bytes_of(mask)},
                       {"fc1.weight", "F32", {2, 3}, bytes_of(weights)},
                       {"half", "BF16", {1}, bytes_of(half)},
                       {"scalar", "F64", {}, bytes_of(scalar)},
                       {"empty", "I64", {0, 4}, {}},
                       {"雪 \"x\"", "F16", {1}, bytes_of(half)}},
                      {{"step", "12"}});
    auto moved_from = SafetensorsFile::open(dir / "w");
    const SafetensorsFile file = std::move(moved_from);
    EXPECT_EQ(file.tensors().size(), 6u);
    EXPECT_EQ(file.metadata().at("step"), "12");
    const auto* read = file.find("fc1.weight");
    ASSERT_NE(read, nullptr);
    EXPECT_THAT(read->shape, ElementsAre(2, 3));
    EXPECT_EQ(std::memcmp(read->bytes.data(), weights.data(), read->bytes.size()), 0);
    EXPECT_TRUE(file.find("scalar")->shape.empty());
    EXPECT_TRUE(file.find("empty")->bytes.empty());
    EXPECT_NE(file.find("雪 \"x\""), nullptr);
}

TEST(Safetensors, TwentyThousandTensorsAreFoundByName) {
    test_support::TempFolder dir;
    constexpr std::size_t count = 20'000;
    std::vector<std::uint8_t> values(count);
    std::vector<TensorEntry> written;
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<std::uint8_t>(i % 251);
        written.push_back({"block." + std::to_string(count - i) + ".weight",
                           "U8",
                           {1},
                           std::as_bytes(std::span(values)).subspan(i, 1)});
    }
    write_safetensors(dir / "w", written, {{"step", "12"}});
    const auto file = SafetensorsFile::open(dir / "w");
    ASSERT_EQ(file.tensors().size(), count);
    EXPECT_EQ(file.metadata().at("step"), "12");
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(file.tensors()[i].name, written[i].name) << "they keep their order";
        const TensorEntry* found = file.find(written[i].name);
        ASSERT_EQ(found, &file.tensors()[i]);
        ASSERT_EQ(found->bytes[0], std::byte{values[i]});
    }
    EXPECT_EQ(file.find("block.0.weight"), nullptr);
}

TEST(Safetensors, AFileWithoutTensorsIsSound) {
    test_support::TempFolder dir;
    write_safetensors(dir / "w", {});
    EXPECT_TRUE(SafetensorsFile::open(dir / "w").tensors().empty());
}

TEST(Safetensors, DataBeginsAlignedAndLargerItemsComeFirst) {
    test_support::TempFolder dir;
    const std::vector<std::uint8_t> mask = {1, 0, 1};
    const std::vector<double> scalar = {0.1};
    write_safetensors(dir / "w",
                      {{"m", "U8", {3}, bytes_of(mask)}, {"s", "F64", {}, bytes_of(scalar)}});
    const auto file = SafetensorsFile::open(dir / "w");
    EXPECT_EQ(file.tensors()[0].name, "s");
    std::ifstream stream(dir / "w", std::ios::binary);
    std::uint64_t length = 0;
    stream.read(reinterpret_cast<char*>(&length), 8);
    EXPECT_EQ(length % 8, 0u);
}

struct Malicious {
    const char* header;
    std::size_t data_bytes;
    const char* says;
};
class MaliciousHeader : public testing::TestWithParam<Malicious> {};

TEST_P(MaliciousHeader, IsRefusedWithItsReason) {
    EXPECT_THAT(open_error(raw_file(GetParam().header, GetParam().data_bytes)),
                HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Safetensors, MaliciousHeader,
    testing::Values(
        Malicious{"", 0, "not a JSON object"}, Malicious{"[]", 0, "not a JSON object"},
        Malicious{"{", 0, "not a JSON object"}, Malicious{"{}x", 0, "not a JSON object"},
        Malicious{"{}", 1, "bytes that belong to no tensor"},
        Malicious{R"({"a":3})", 0, "not described by an object"},
        Malicious{R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "has no dtype"},
        Malicious{R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1, "F8_E4M3"},
        Malicious{R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8, "not supported"},
        Malicious{R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "has no shape"},
        Malicious{R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "has no shape"},
        Malicious{R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "has no shape"},
        Malicious{R"({"a":{"dtype":"F32","shape":[1]}})", 4, "has no data_offsets"},
        Malicious{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "outside the file"},
        Malicious{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4,
                  "outside the file"},
        Malicious{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4,
                  "outside the file"},
        Malicious{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]}})", 4,
                  "outside the file"},
        Malicious{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "shape and type"},
        Malicious{R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", 4,
                  "shape and type"},
        Malicious{R"({"a":{"dtype":"F32","shape":[9223372036854775807,2],"data_offsets":[0,0]}})",
                  0, "shape and type"},
        Malicious{R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,0]}})", 0,
                  "larger than any memory"},
        Malicious{R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                  R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                  6, "overlaps"},
        Malicious{R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                  R"("b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})",
                  9, "hole"},
        Malicious{R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                  R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                  4, "twice"},
        Malicious{R"({"__metadata__":3})", 0, "metadata is not an object"},
        Malicious{R"({"__metadata__":{"a":3}})", 0, "metadata a is not a text"},
        Malicious{R"({"a":{"dtype":"F32","shape":[[[[[1]]]]],"data_offsets":[0,4]}})", 4,
                  "nested"}));

TEST(Safetensors, ALengthBeyondTheFileIsRefused) {
    for (const std::uint64_t length :
         {std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
        std::string bytes(10, '{');
        std::memcpy(bytes.data(), &length, 8);
        EXPECT_THAT(open_error(bytes), HasSubstr("claims a header"));
    }
    EXPECT_THAT(open_error("abc"), HasSubstr("ends after 3 bytes"));
    EXPECT_THAT(open_error(""), HasSubstr("ends after 0 bytes"));
}

TEST(Safetensors, DeepNestingDoesNotExhaustTheStack) {
    EXPECT_THAT(open_error(raw_file("{\"a\":" + std::string(200'000, '['), 0)),
                HasSubstr("nested"));
}

TEST(Safetensors, ASparseFileOfATerabyteIsRefusedBeforeItIsRead) {
    constexpr std::uintmax_t terabyte = std::uintmax_t{1} << 40;
    const std::string header =
        R"({"a":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}})";
    for (const std::string& begin : {std::string(8, '\0'), raw_file(header, 0)}) {
        test_support::TempFolder dir;
        write_raw(dir / "w.safetensors", begin);
        std::filesystem::resize_file(dir / "w.safetensors", begin.size() + terabyte);
        try {
            SafetensorsFile::open(dir / "w.safetensors");
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
        }
    }
}

TEST(Safetensors, WhatIsNoRegularFileIsRefused) {
    test_support::TempFolder dir;
    ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
    for (const auto& path : {dir / "pipe", std::filesystem::path("/dev/zero")}) {
        try {
            SafetensorsFile::open(path);
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("not a regular file"));
        }
    }
}

TEST(Safetensors, AMissingFileAndAFolderAreErrors) {
    test_support::TempFolder dir;
    EXPECT_THROW(SafetensorsFile::open(dir / "absent"), Error);
    EXPECT_THROW(SafetensorsFile::open(dir.path()), Error);
}

TEST(Safetensors, NoDamageToAHeaderIsReadPastTheFile) {
    test_support::TempFolder dir;
    const std::vector<float> weights = {1, 2, 3, 4};
    write_safetensors(dir / "w", {{"a", "F32", {2, 2}, bytes_of(weights)}}, {{"k", "v"}});
    std::ifstream stream(dir / "w", std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(stream)), {});
    std::mt19937 random(5);
    for (int i = 0; i < 400; ++i) {
        std::string bytes = whole;
        bytes[random() % (whole.size() - 16)] = static_cast<char>(random());
        if (i % 5 == 0) bytes.resize(random() % bytes.size());
        const auto damaged = dir / std::to_string(i);
        write_raw(damaged, bytes);
        try {
            const auto file = SafetensorsFile::open(damaged);
            for (const auto& entry : file.tensors()) ASSERT_LE(entry.bytes.size(), 16u);
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::data);
        }
    }
}

TEST(Safetensors, TheWriterRefusesEntriesThatMakeNoFile) {
    test_support::TempFolder dir;
    const std::vector<float> one = {1};
    const auto refused = [&](const std::vector<TensorEntry>& entries) {
        try {
            write_safetensors(dir / "w", entries);
        } catch (const Error& error) {
            return error.code() == ErrorCode::value && !std::filesystem::exists(dir / "w");
        }
        return false;
    };
    EXPECT_TRUE(refused({{"a", "F32", {1}, bytes_of(one)}, {"a", "F32", {1}, bytes_of(one)}}));
    EXPECT_TRUE(refused({{"__metadata__", "F32", {1}, bytes_of(one)}}));
    EXPECT_TRUE(refused({{"a", "F32", {2}, bytes_of(one)}}));
    EXPECT_TRUE(refused({{"a", "F33", {1}, bytes_of(one)}}));
    EXPECT_TRUE(refused({{"a", "F32", {-1}, bytes_of(one)}}));
}

TEST(Safetensors, AWriteThatFailsLeavesTheOldFileAndNoOther) {
    test_support::TempFolder dir;
    const std::vector<float> one = {1};
    write_safetensors(dir / "w", {{"a", "F32", {1}, bytes_of(one)}});
    std::filesystem::create_directory(dir / "taken");
    EXPECT_THROW(write_safetensors(dir / "taken", {}), Error);
    EXPECT_THROW(write_safetensors(dir / "absent/w", {}), Error);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.path()))
        ++files;
    EXPECT_EQ(files, 2u);
    EXPECT_NE(SafetensorsFile::open(dir / "w").find("a"), nullptr);
}

}  // namespace
}  // namespace engine
