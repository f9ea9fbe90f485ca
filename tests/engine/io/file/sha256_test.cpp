#include "io/file/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/base/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

std::string sha256_of_text(const std::string& text) {
    const test_support::TempFolder folder;
    std::ofstream(folder / "file", std::ios::binary) << text;
    return sha256_of(folder / "file");
}

// The examples of FIPS 180-2, appendix B, and the empty message.
TEST(Sha256, IsThatOfTheStandard) {
    EXPECT_EQ(sha256_of_text(""),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_of_text("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_of_text(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAMegabyteAndAByteGoesOnInTheSecondBlock) {
    const std::string text((1 << 20) + 1, 'b');
    EXPECT_NE(sha256_of_text(text), sha256_of_text(text.substr(1)));
}

TEST(Sha256, OfAFileThatIsNotThereIsADataError) {
    EXPECT_THROW(sha256_of("/nonexistent/file"), Error);
}

}  // namespace
}  // namespace engine
