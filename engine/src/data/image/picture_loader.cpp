#include "data/image/picture_loader.h"

#include <utility>

#include "data/dataset.h"

namespace engine {

PictureLoader::PictureLoader(std::vector<std::filesystem::path> files, PixelDecoder decoder)
    : files_(std::move(files)), decoder_(std::move(decoder)) {
    if (!seen_) return;
    for (const auto& file : files_) numbers_.push_back(seen_->add(file));
}

Picture PictureLoader::load(std::size_t file) const {
    const std::filesystem::path& path = files_[file];
    try {
        if (!seen_ || seen_->has_hash(numbers_[file]))
            return load_picture_by(decoder_, path, Alpha::dropped, {});
        const auto see = [&](std::span<const std::uint8_t> bytes) {
            seen_->add_hash(numbers_[file], std::ssize(bytes),
                            content_hash(0, bytes.data(), bytes.size()));
        };
        return load_picture_by(decoder_, path, Alpha::dropped, see);
    } catch (const Error& error) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(path, ignored))
            throw Error(error.code(), error.message(),
                        msg("Put it back, and resume from the last checkpoint."));
        throw DamagedSample(error.code(), error.message(),
                            msg("Repair it, or resume with --set dataset.damaged=skip: the next "
                                "picture takes its place."));
    }
}

}  // namespace engine
