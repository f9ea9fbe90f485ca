#include "data/batch_maker.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/philox.h"
#include "engine/error.h"

namespace engine {
namespace {

constexpr std::int64_t padding = 4;

SampleOrder make_order(const Dataset& dataset, const LoaderOptions& options) {
    if (!options.order.empty()) return SampleOrder::from_file(dataset.size(), options.order);
    return {dataset.size(), SampleOrder::Options{.batch_size = options.batch_size,
                                                 .seed = options.seed,
                                                 .shuffle = options.shuffle,
                                                 .drop_last = options.drop_last}};
}

std::vector<float> repeat(const std::vector<float>& channels, std::int64_t times) {
    std::vector<float> row;
    for (std::int64_t i = 0; i < times; ++i)
        row.insert(row.end(), channels.begin(), channels.end());
    return row;
}

/// Copies `pixels` pixels of `channels` floats each, last pixel first.
void copy_reversed(float* out, const float* in, std::int64_t pixels, std::int64_t channels) {
    for (std::int64_t x = 0; x < pixels; ++x) {
        const float* pixel = in + (pixels - 1 - x) * channels;
        for (std::int64_t c = 0; c < channels; ++c) out[x * channels + c] = pixel[c];
    }
}

}  // namespace

BatchMaker::BatchMaker(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options)
    : dataset_(std::move(dataset)),
      shape_(dataset_->shape()),
      options_(options),
      order_(make_order(*dataset_, options)) {
    if (options_.augment && !shape_.is_image()) {
        throw Error(ErrorCode::settings, msg("dataset.augment: true: these data are not images"),
                    msg("Switch augmentation off for this data set."));
    }
    const Normalization normalization = dataset_->normalization();
    mean_row_ = repeat(normalization.mean, shape_.width);
    deviation_row_ = repeat(normalization.deviation, shape_.width);
    source_.resize(static_cast<std::size_t>(shape_.elements()));
}

void BatchMaker::make(Batch& out, std::int64_t epoch, std::int64_t index) {
    const auto samples = order_.batch(epoch, index);
    const auto elements = static_cast<std::size_t>(shape_.elements());
    out.epoch = epoch;
    out.index_in_epoch = index;
    out.last_of_epoch = index + 1 == order_.batches_per_epoch();
    out.indices.assign(samples.begin(), samples.end());
    out.position = static_cast<std::int64_t>(order_.position(index));
    out.labels.resize(samples.size());
    out.pixels.resize(options_.indices_only ? 0 : samples.size() * elements);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        out.labels[i] = dataset_->label(samples[i]);
        if (options_.indices_only) continue;
        const auto pixels = std::span(out.pixels).subspan(i * elements, elements);
        dataset_->read(samples[i], pixels);
        // Sample by sample, so that it is still in the first-level cache.
        if (options_.augment) crop_and_flip(pixels, epoch, order_.position(index) + i);
        if (options_.normalize) normalize(pixels);
    }
}

void BatchMaker::crop_and_flip(std::span<float> image, std::int64_t epoch, std::size_t position) {
    const RandomStream random(options_.seed, StreamId::augment, static_cast<std::uint32_t>(epoch));
    const PhiloxBlock words = random.block(position);
    const std::int64_t down = RandomStream::to_bounded(words[0], 2 * padding + 1) - padding;
    const std::int64_t right = RandomStream::to_bounded(words[1], 2 * padding + 1) - padding;
    const bool flip = (words[2] & 1) != 0;

    // Row y, pixel x of the crop is pixel (y + down, x + right) of the image, 0 outside of it.
    const auto [channels, height, width] = shape_;
    const std::int64_t row = width * channels;
    const std::int64_t first = std::max<std::int64_t>(0, -right);
    const std::int64_t kept = std::max<std::int64_t>(0, width - std::abs(right));
    std::copy(image.begin(), image.end(), source_.begin());
    std::fill(image.begin(), image.end(), 0.0F);
    for (std::int64_t y = std::max<std::int64_t>(0, -down); y < std::min(height, height - down);
         ++y) {
        const float* from = source_.data() + (y + down) * row + (first + right) * channels;
        float* to = image.data() + y * row;
        if (flip) {
            copy_reversed(to + (width - first - kept) * channels, from, kept, channels);
        } else {
            std::copy(from, from + kept * channels, to + first * channels);
        }
    }
}

void BatchMaker::normalize(std::span<float> pixels) const {
    const std::size_t row = mean_row_.size();
    const float* mean = mean_row_.data();
    const float* deviation = deviation_row_.data();
    for (std::size_t start = 0; start < pixels.size(); start += row) {
        float* values = pixels.data() + start;
        for (std::size_t i = 0; i < row; ++i) values[i] = (values[i] - mean[i]) / deviation[i];
    }
}

}  // namespace engine
