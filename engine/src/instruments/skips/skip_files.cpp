#include "instruments/skips/skip_files.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

#include "engine/base/error.h"
#include "engine/instruments/skips.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "tasks/task_descriptor.h"
#include "train/run/run_pictures.h"

namespace engine {
namespace {

constexpr std::int64_t max_side = 64;  // pixels

/// Values of images as (N, C, H, W), of which only every n-th row and column is taken.
class Thinned {
public:
    Thinned(std::int64_t count, const Shape& image)
        : every_((std::max(image[1], image[2]) + max_side - 1) / max_side),
          height_((image[1] + every_ - 1) / every_),
          width_((image[2] + every_ - 1) / every_),
          image_(image),
          values_(static_cast<std::size_t>(count * image[0] * height_ * width_)) {}

    /// `pixels`: (H, W, C).
    void put(std::int64_t index, std::span<const float> pixels) {
        const std::int64_t channels = image_[0];
        for (std::int64_t c = 0; c < channels; ++c) {
            for (std::int64_t y = 0; y < height_; ++y) {
                for (std::int64_t x = 0; x < width_; ++x) {
                    const std::int64_t from = (y * every_ * image_[2] + x * every_) * channels + c;
                    const std::int64_t to = ((index * channels + c) * height_ + y) * width_ + x;
                    put_value(static_cast<std::size_t>(to), pixels[static_cast<std::size_t>(from)]);
                }
            }
        }
    }
    Picture drawn(std::int64_t count) const {
        PictureBands bands;
        bands.bands = {
            Tensor::of(values_, {count, image_[0], height_, width_}, DType::f32, Device{})};
        bands.black = lowest_ < highest_ ? lowest_ : 0;
        bands.white = lowest_ < highest_ ? highest_ : 1;
        return engine::drawn(bands);
    }

private:
    void put_value(std::size_t at, float value) {
        values_[at] = static_cast<double>(value);
        if (!std::isfinite(value)) return;
        lowest_ = std::min(lowest_, values_[at]);
        highest_ = std::max(highest_, values_[at]);
    }

    std::int64_t every_, height_, width_;
    Shape image_;
    std::vector<double> values_;
    double lowest_ = std::numeric_limits<double>::infinity(), highest_ = -lowest_;
};

namespace fs = std::filesystem;

constexpr std::uintmax_t max_report_bytes = 64 << 20;

fs::path folder_of(const fs::path& run_folder) { return run_folder / "skips"; }

fs::path made_folder(const fs::path& run_folder) {
    fs::path folder = folder_of(run_folder);
    std::error_code error;
    make_private_folders(folder, error);
    if (error) throw_write_error(folder, error.value());
    return folder;
}

std::optional<SkipReport> read_report(const fs::path& file) {
    std::error_code error;
    if (fs::file_size(file, error) > max_report_bytes || error) return std::nullopt;
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    try {
        return parse_skip_report(text.str());
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

std::optional<Picture> sample_sheet(const StepCapsule& capsule, const SkipReport& report) {
    const auto task = make_task(capsule.config, capsule.data);
    const auto& fields = task->schema(true).fields;
    const auto image = std::ranges::find(fields, FieldKind::image, &FieldSpec::kind);
    if (image == fields.end() || image->dtype != DType::f32 || report.samples.empty())
        return std::nullopt;
    const auto at = static_cast<std::size_t>(image - fields.begin());
    const std::int64_t count = std::min<std::int64_t>(std::ssize(report.samples), 64);
    const Shape& whole = capsule.batches.front().fields.at(at).shape;
    if (whole.rank() != 4) return std::nullopt;
    const Shape shape{whole[1], whole[2], whole[3]};
    const auto size = static_cast<std::size_t>(shape.numel());
    Thinned out(count, shape);
    for (std::int64_t i = 0; i < count; ++i) {
        const SampleShare& sample = report.samples[static_cast<std::size_t>(i)];
        const Batch& batch = capsule.batches.at(static_cast<std::size_t>(sample.micro_batch));
        out.put(i, batch.fields[at].values<float>().subspan(
                       static_cast<std::size_t>(sample.row) * size, size));
    }
    return out.drawn(count);
}

std::map<std::int64_t, SkipReport> read_skip_reports(const fs::path& run_folder) {
    std::map<std::int64_t, SkipReport> out;
    std::error_code error;
    for (fs::directory_iterator it(folder_of(run_folder), error), end; !error && it != end;
         it.increment(error)) {
        std::error_code ignored;
        if (!fs::is_regular_file(it->symlink_status(ignored)) || it->path().extension() != ".json")
            continue;
        if (auto report = read_report(it->path())) {
            const std::int64_t step = report->step;
            out.insert_or_assign(step, std::move(*report));
        }
    }
    return out;
}

fs::path skip_picture(const fs::path& run_folder, std::int64_t step) {
    return folder_of(run_folder) / (std::to_string(step) + ".png");
}

void write_skip_report(const fs::path& run_folder, const SkipReport& report) {
    write_file(made_folder(run_folder) / (std::to_string(report.step) + ".json"),
               to_json_line(report) + "\n");
}

void keep_examination(const fs::path& run_folder, const StepCapsule& capsule,
                      const SkipReport& report) {
    // The picture first, so that a report is never without its picture.
    made_folder(run_folder);
    if (const auto picture = sample_sheet(capsule, report))
        write_file(skip_picture(run_folder, report.step), png_bytes(*picture));
    write_skip_report(run_folder, report);
}

}  // namespace engine
