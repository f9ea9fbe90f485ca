#include "io/file/sha256.h"

#include <nettle/sha2.h>

#include <array>
#include <fstream>
#include <vector>

#include "engine/base/error.h"

namespace engine {

namespace {

std::string digest_of(sha256_ctx& context) {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&context, digest.size(), digest.data());
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace

std::string sha256_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    sha256_ctx context;
    sha256_init(&context);
    std::vector<char> block(1 << 20);
    do {
        stream.read(block.data(), static_cast<std::streamsize>(block.size()));
        sha256_update(&context, static_cast<std::size_t>(stream.gcount()),
                      reinterpret_cast<const std::uint8_t*>(block.data()));
    } while (stream);
    if (!stream.eof())
        throw Error(ErrorCode::data, msg("{}: the file cannot be read", file.string()));
    return digest_of(context);
}

std::string sha256_of(std::span<const std::byte> bytes) {
    sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
    return digest_of(context);
}

}  // namespace engine
