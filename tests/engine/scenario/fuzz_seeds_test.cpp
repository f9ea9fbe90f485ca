#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "peer/tensor_file.h"

// The fuzz programs' functions, each under its own name.
#define LLVMFuzzerTestOneInput coco_json_input
#include "fuzz/coco_json_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput mask_png_input
#include "fuzz/mask_png_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput network_input
#include "fuzz/network_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput rle_text_input
#include "fuzz/rle_text_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput voc_xml_input
#include "fuzz/voc_xml_fuzz.cpp"
#undef LLVMFuzzerTestOneInput

// Inputs that runs of the fuzz programs kept, and damaged seeds, are read without a fault.
namespace engine {
namespace {

std::string from_base64(const std::string& text) {
    static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    unsigned held = 0, bits = 0;
    for (const char c : text.substr(0, text.find('='))) {
        held = held << 6 | static_cast<unsigned>(digits.find(c));
        if ((bits += 6) < 8) continue;
        bits -= 8;
        out += static_cast<char>(held >> bits & 255);
    }
    return out;
}

struct Target {
    const char* name;
    int (*read)(const std::uint8_t*, std::size_t);
};

class FuzzSeeds : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, FuzzSeeds,
                         testing::Values(Target{"coco_json", coco_json_input}, Target{"mask_png", mask_png_input}, Target{"network", network_input},
                                         Target{"rle_text", rle_text_input}, Target{"voc_xml", voc_xml_input}),
                         [](const auto& target) { return std::string(target.param.name); });

TEST_P(FuzzSeeds, AreReadWithoutAFault) {
    const std::filesystem::path file = std::filesystem::path(HALFTONE_FUZZ_DIR) / (std::string(GetParam().name) + "_seeds.txt.xz");
    std::istringstream lines(peer::unpacked(file));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        const std::string input = from_base64(line);
        EXPECT_EQ(GetParam().read(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()), 0);
    }
    EXPECT_GT(count, 20);
}

}  // namespace
}  // namespace engine
