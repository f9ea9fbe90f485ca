#include "io/onnx/onnx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/base/error.h"
#include "made_onnx.h"
#include "temp_folder.h"

namespace engine::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OnnxFiles : public testing::Test {
protected:
    std::string write(const MadeOnnx& model) const { return folder_.write("model.onnx", model.bytes()); }

    /// Error of a file whose tensor w stands outside.
    std::string error_text(const MadeOnnx& model, const std::string& data = {}) const {
        try {
            const OnnxFile file = OnnxFile::open(write(model), data);
            return file.floats(file.tensors.at(0)).size() == 2 ? "read" : "wrong";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
            return error.what();
        }
    }
    static MadeOnnx outside(const std::string& location, const std::string& offset = "0", const std::string& length = "8") {
        return MadeOnnx().floats("w", {2}, {}, {"location", location, "offset", offset, "length", length});
    }

    const test_support::TempFolder folder_;
};

TEST_F(OnnxFiles, HoldNodesAndTensors) {
    MadeOnnx made;
    made.floats("w", {2}, std::string("\0\0\x80\x3f\0\0\0\xc0", 8)).wholes("i", {-1, 300}).node("Add", {"x", "w"}, {"y"}, "sum");
    const OnnxFile file = OnnxFile::open(write(made));
    EXPECT_EQ(file.opset, 18);
    ASSERT_EQ(file.nodes.size(), 1u);
    EXPECT_EQ(file.nodes[0].op, "Add");
    EXPECT_THAT(file.nodes[0].inputs, ElementsAre("x", "w"));
    ASSERT_EQ(file.tensors.size(), 2u);
    EXPECT_THAT(file.floats(file.tensors[0]), ElementsAre(1.0f, -2.0f));
    EXPECT_THAT(file.wholes(file.tensors[1]), ElementsAre(-1, 300));
    ASSERT_EQ(file.inputs.size(), 1u);
    EXPECT_EQ(std::get<std::string>(file.inputs[0].dims.at(0)), "N");
}

TEST_F(OnnxFiles, RefuseTensorsWithOtherBytesThanTheirShape) {
    EXPECT_THAT(error_text(MadeOnnx().floats("w", {3}, "12345678")), HasSubstr("w has other bytes than its shape"));
    EXPECT_THAT(error_text(MadeOnnx().floats("w", {-2}, "12345678")), HasSubstr("out of range"));
    EXPECT_THAT(error_text(MadeOnnx().floats("w", {std::int64_t{1} << 62, 4}, "12345678")), HasSubstr("out of range"));
    EXPECT_THAT(error_text(MadeOnnx().floats("w", {1, 1, 1, 1, 1, 1, 1, 1, 2}, "12345678")), HasSubstr("8 dimensions"));
    EXPECT_THAT(error_text(MadeOnnx().wholes("w", {1, 2}, {5})), HasSubstr("other bytes"));
}

TEST_F(OnnxFiles, RefuseWhatIsNoModel) {
    const auto refused = [](const std::string& path) {
        try {
            OnnxFile::open(path);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused((folder_ / "none.onnx").string()), HasSubstr("no such file"));
    EXPECT_THAT(refused(folder_.str()), HasSubstr("no such file"));
    EXPECT_THAT(refused(folder_.write("empty.onnx", std::vector<std::uint8_t>())), HasSubstr("empty"));
    EXPECT_THAT(refused(folder_.write("long.onnx", std::vector<std::uint8_t>{0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f})), HasSubstr("damaged"));
    EXPECT_THAT(refused(folder_.write("zero.onnx", std::vector<std::uint8_t>(9))), HasSubstr("damaged"));
    EXPECT_THAT(refused(folder_.write("number.onnx", std::vector<std::uint8_t>{0x38, 1})), HasSubstr("another type"));
    const std::string pipe = (folder_ / "pipe.onnx").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(refused(pipe), HasSubstr("no such file"));
}

TEST_F(OnnxFiles, ReadDataBesideThemUnderAPlainNameAlone) {
    namespace fs = std::filesystem;
    const std::vector<std::uint8_t> eight(8);
    const std::string data = folder_.write("model.data", eight);
    EXPECT_EQ(error_text(outside("model.data")), "read");
    EXPECT_THAT(error_text(outside("model.data", "1")), HasSubstr("beyond the end"));
    EXPECT_THAT(error_text(outside("model.data", "9223372036854775807")), HasSubstr("beyond the end"));
    EXPECT_THAT(error_text(outside("model.data", "-8")), HasSubstr("other bytes"));
    EXPECT_THAT(error_text(outside("model.data", "0", "4")), HasSubstr("other bytes"));
    EXPECT_THAT(error_text(outside("model.data", "8 bytes")), HasSubstr("where its numbers are"));
    for (const std::string path : {"../model.data", "a/../../model.data", data.c_str(), "/proc/self/environ", "..", "."})
        EXPECT_THAT(error_text(outside(path)), HasSubstr("--data")) << path;
    fs::create_symlink(data, folder_ / "link.data");
    EXPECT_THAT(error_text(outside("link.data")), HasSubstr("--data"));
    ASSERT_EQ(::mkfifo((folder_ / "pipe.data").c_str(), 0600), 0);
    EXPECT_THAT(error_text(outside("pipe.data")), HasSubstr("--data"));
    EXPECT_EQ(error_text(outside("link.data"), (folder_ / "link.data").string()), "read") << "a person chose it";
    fs::create_hard_link(data, folder_ / "hard.data");
    EXPECT_THAT(error_text(outside("hard.data")), HasSubstr("--data"));
    EXPECT_THAT(error_text(outside("model.data")), HasSubstr("--data")) << "it has another name now";
    EXPECT_EQ(error_text(outside("none.data"), data), "read");
}

}  // namespace
}  // namespace engine::test
