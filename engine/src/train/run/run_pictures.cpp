#include "train/run/run_pictures.h"

#include <algorithm>
#include <cmath>

#include "engine/runs/run_store.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "runs/run_folder.h"

namespace engine {
namespace {

constexpr std::int64_t max_picture_columns = 8;
constexpr std::int64_t gap = 1;
constexpr std::uint8_t gap_grey = 40;

/// Draws images of one size into places of a grid.
class Grid {
public:
    Grid(std::int64_t rows, std::int64_t columns, std::int64_t height, std::int64_t width)
        : height_(height + gap), width_(width + gap) {
        picture_.width = static_cast<int>(columns * width_ - gap);
        picture_.height = static_cast<int>(rows * height_ - gap);
        picture_.rgb.assign(static_cast<std::size_t>(picture_.width) *
                                static_cast<std::size_t>(picture_.height) * 3,
                            gap_grey);
    }

    /// `color(channel, y, x)` from 0 to 1.
    template <typename Color>
    void draw(std::int64_t row, std::int64_t column, Color color) {
        for (std::int64_t y = 0; y + gap < height_; ++y) {
            for (std::int64_t x = 0; x + gap < width_; ++x) {
                const std::int64_t at = (row * height_ + y) * picture_.width + column * width_ + x;
                for (std::int64_t c = 0; c < 3; ++c)
                    picture_.rgb[static_cast<std::size_t>(3 * at + c)] = byte(color(c, y, x));
            }
        }
    }
    Picture take() { return std::move(picture_); }

private:
    /// NaN is black.
    static std::uint8_t byte(double value) {
        if (!(value > 0)) return 0;
        return static_cast<std::uint8_t>(std::lround(255 * std::min(value, 1.0)));
    }

    std::int64_t height_, width_;
    Picture picture_;
};

std::filesystem::path make_samples_folder(const std::filesystem::path& run_folder) {
    std::error_code error;
    auto folder = run_folder / samples_folder;
    make_private_folders(folder, error);
    if (error) throw_write_error(folder, error.value());
    return folder;
}

}  // namespace

Picture drawn(const PictureBands& pictures) {
    const Shape shape = pictures.bands.front().shape();
    const std::int64_t count = shape[0], channels = shape[1], height = shape[2], width = shape[3];
    const auto bands = static_cast<std::int64_t>(pictures.bands.size());
    const std::int64_t columns = std::min(count, max_picture_columns);
    Grid grid((count + columns - 1) / columns * bands, columns, height, width);
    for (std::int64_t band = 0; band < bands; ++band) {
        const std::vector<double> values = pictures.bands[static_cast<std::size_t>(band)].values();
        for (std::int64_t i = 0; i < count; ++i) {
            const auto color = [&](std::int64_t c, std::int64_t y, std::int64_t x) {
                const std::int64_t channel = channels == 3 ? c : 0;
                const std::int64_t at = ((i * channels + channel) * height + y) * width + x;
                return (values[static_cast<std::size_t>(at)] - pictures.black) /
                       (pictures.white - pictures.black);
            };
            grid.draw(i / columns * bands + band, i % columns, color);
        }
    }
    return grid.take();
}

void keep_pictures(const std::filesystem::path& run_folder, std::int64_t step,
                   const PictureBands& pictures) {
    if (pictures.bands.empty() || pictures.bands.front().size(0) == 0) return;
    write_file(make_samples_folder(run_folder) / (std::to_string(step) + ".png"),
               png_bytes(drawn(pictures)));
}

void copy_pictures(const std::filesystem::path& from, const std::filesystem::path& to,
                   std::int64_t step) {
    for (const SamplePicture& picture : list_sample_pictures(from)) {
        if (picture.step > step) break;
        std::error_code error;
        const auto copy = make_samples_folder(to) / picture.file.filename();
        std::filesystem::copy_file(picture.file, copy, error);
        if (error) throw_write_error(copy, error.value());
    }
}

void remove_pictures_after(const std::filesystem::path& run_folder, std::int64_t step) {
    std::error_code ignored;
    for (const SamplePicture& picture : list_sample_pictures(run_folder)) {
        if (picture.step > step) std::filesystem::remove(picture.file, ignored);
    }
}

}  // namespace engine
