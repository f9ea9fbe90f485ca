#include "data/loader/sampler.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <utility>

#include "engine/base/error.h"
#include "tensor/philox.h"

namespace engine {
namespace {

// Eight million indices of an epoch; each takes up to four times its text in memory.
constexpr std::uintmax_t max_order_bytes = std::uintmax_t{64} << 20;

[[noreturn]] void refuse_order(Message message) {
    throw Error(ErrorCode::data, std::move(message),
                msg("dataset.order takes a text file with one batch a line: sample indices from 0, "
                    "separated by spaces."));
}

std::ifstream open_order(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) refuse_order(msg("{}: no such file", file));
    if (std::filesystem::file_size(file, error) > max_order_bytes) {
        refuse_order(msg("{}: over 64 MiB, too long for an order file", file));
    }
    std::ifstream in(file);
    if (!in) refuse_order(msg("{}: cannot be read", file));
    return in;
}

/// Appends the indices of one line; false if the line is blank.
bool parse_line(const std::string& file, std::size_t number, const std::string& line,
                std::int64_t size, std::vector<std::int64_t>& indices) {
    constexpr const char* separators = " \t\r,";
    const std::size_t before = indices.size();
    std::size_t at = 0;
    while ((at = line.find_first_not_of(separators, at)) != std::string::npos) {
        const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
        std::int64_t index = 0;
        const auto [stop, status] = std::from_chars(line.data() + at, line.data() + end, index);
        if (status != std::errc{} || stop != line.data() + end) {
            refuse_order(msg("{}, line {}: \"{}\" is not a whole number", file, number,
                             line.substr(at, std::min<std::size_t>(end - at, 40))));
        }
        if (index < 0 || index >= size) {
            refuse_order(
                msg("{}, line {}: sample {} is outside 0 to {}", file, number, index, size - 1));
        }
        indices.push_back(index);
        at = end;
    }
    return indices.size() > before;
}

/// Empty where all samples are of one group.
std::vector<std::uint8_t> shape_groups(const DataPart& part) {
    std::vector<std::uint8_t> out;
    out.reserve(static_cast<std::size_t>(part.size()));
    for (std::int64_t i = 0; i < part.size(); ++i)
        out.push_back(part.data->shape_group(part.sample(i)));
    if (std::ranges::adjacent_find(out, std::not_equal_to{}) == out.end()) out.clear();
    return out;
}

SampleOrder make_order(const DataPart& part, const SamplerOptions& options) {
    SampleOrder order = options.order.empty()
                            ? SampleOrder(part.size(), {.batch_size = options.batch_size,
                                                        .seed = options.seed,
                                                        .shuffle = options.shuffle,
                                                        .drop_last = options.drop_last})
                            : SampleOrder::from_file(part.data->size(), options.order);
    order.join_short_last(options.min_last);
    if (options.shuffle && options.order.empty()) {
        std::vector<std::uint8_t> groups = shape_groups(part);
        if (!groups.empty()) order.keep_groups(std::move(groups));
    }
    return order;
}

/// A place in the data may come from a file.
void check_place(std::int64_t epoch, std::int64_t index, std::int64_t batches) {
    constexpr std::int64_t max_epochs = std::int64_t{1} << 32;  // numbers of random streams
    if (epoch >= 0 && epoch < max_epochs && index >= 0 && index < batches) return;
    throw Error(ErrorCode::data, msg("There is no batch {} in epoch {}: an epoch has {} batches.",
                                     index, epoch, batches));
}

class SampleSampler final : public Sampler {
public:
    SampleSampler(const DataPart& part, const SamplerOptions& options)
        : part_(part),
          order_(make_order(part, options)),
          // An order file names samples of the data set itself.
          maps_(part.rows && options.order.empty()),
          batch_size_(options.batch_size) {}

    std::int64_t batches_per_epoch() const override { return order_.batches_per_epoch(); }

    BatchPlan plan(std::int64_t epoch, std::int64_t index) override {
        check_place(epoch, index, batches_per_epoch());
        std::span<const std::int64_t> indices = order_.batch(epoch, index);
        if (maps_) {
            mapped_.resize(indices.size());
            std::transform(indices.begin(), indices.end(), mapped_.begin(),
                           [this](std::int64_t i) { return part_.sample(i); });
            indices = mapped_;
        }
        return {.indices = indices,
                .position = static_cast<std::int64_t>(order_.position(index)),
                .full = static_cast<std::int64_t>(indices.size()) == batch_size_};
    }

    std::int64_t sample_at(std::int64_t position) const override {
        const std::int64_t index = order_.at(position);
        return maps_ ? part_.sample(index) : index;
    }

private:
    DataPart part_;
    SampleOrder order_;
    bool maps_;
    std::int64_t batch_size_;
    std::vector<std::int64_t> mapped_;
};

class StreamSampler final : public Sampler {
public:
    StreamSampler(const DataPart& part, const SamplerOptions& options)
        : order_(part.size(), options.batch_size, options.window), window_(options.window) {}

    std::int64_t batches_per_epoch() const override { return order_.batches_per_epoch(); }

    BatchPlan plan(std::int64_t epoch, std::int64_t index) override {
        check_place(epoch, index, batches_per_epoch());
        const std::int64_t length = order_.length(index);
        return {.indices = order_.starts(index),
                .window = length,
                .position = order_.position(index),
                .full = length == window_};
    }

private:
    StreamOrder order_;
    std::int64_t window_;
};

}  // namespace

SampleOrder::SampleOrder(std::int64_t size, const Options& options)
    : indices_(static_cast<std::size_t>(size)), shuffled_(options.shuffle), seed_(options.seed) {
    std::iota(indices_.begin(), indices_.end(), 0);
    const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(options.batch_size, 1));
    batch_size_ = batch;
    const std::size_t used = options.drop_last ? indices_.size() / batch * batch : indices_.size();
    if (used == 0) {
        throw Error(
            ErrorCode::settings,
            msg("batch_size: {}: {} samples do not fill one batch", options.batch_size, size),
            msg("Take a smaller batch or more samples."));
    }
    for (std::size_t start = 0; start < used; start += batch) starts_.push_back(start);
    starts_.push_back(used);
}

SampleOrder SampleOrder::from_file(std::int64_t size, const std::string& file) {
    SampleOrder order;
    std::ifstream in = open_order(file);
    std::string line;
    std::size_t blank_line = 0;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        const std::size_t start = order.indices_.size();
        if (!parse_line(file, number, line, size, order.indices_)) {
            if (blank_line == 0) blank_line = number;
            continue;
        }
        if (blank_line != 0)
            refuse_order(msg("{}, line {}: a batch without samples", file, blank_line));
        order.starts_.push_back(start);
    }
    if (in.bad()) refuse_order(msg("{}: cannot be read", file));
    if (order.starts_.empty()) refuse_order(msg("{}: no sample index in it", file));
    order.starts_.push_back(order.indices_.size());
    return order;
}

void SampleOrder::join_short_last(std::int64_t least) {
    if (batches_per_epoch() < 2) return;
    const auto last = starts_.end() - 2;
    if (static_cast<std::int64_t>(starts_.back() - *last) < least) starts_.erase(last);
}

std::span<const std::int64_t> SampleOrder::batch(std::int64_t epoch, std::int64_t index) {
    if (shuffled_ && epoch != epoch_) shuffle(epoch);
    const std::size_t start = starts_[static_cast<std::size_t>(index)];
    return std::span(indices_).subspan(start, starts_[static_cast<std::size_t>(index) + 1] - start);
}

void SampleOrder::shuffle(std::int64_t epoch) {
    // From the identity each time: the order of an epoch must not depend on earlier epochs.
    std::iota(indices_.begin(), indices_.end(), 0);
    const RandomStream random(seed_, StreamId::shuffle, static_cast<std::uint32_t>(epoch));
    PhiloxBlock words{};
    std::size_t drawn = 0;
    for (std::size_t left = indices_.size(); left > 1; --left, ++drawn) {
        if (drawn % 4 == 0) words = random.block(drawn / 4);
        const auto chosen =
            RandomStream::to_bounded(words[drawn % 4], static_cast<std::uint32_t>(left));
        std::swap(indices_[left - 1], indices_[chosen]);
    }
    if (!groups_.empty()) gather_groups();
    epoch_ = epoch;
}

void SampleOrder::gather_groups() {
    std::vector<std::vector<std::int64_t>> waiting(std::size_t{1} +
                                                   *std::ranges::max_element(groups_));
    std::vector<std::int64_t> order;
    order.reserve(indices_.size());
    const auto emit = [&](std::vector<std::int64_t>& group) {
        order.insert(order.end(), group.begin(), group.end());
        group.clear();
    };
    for (const std::int64_t index : indices_) {
        auto& group = waiting[groups_[static_cast<std::size_t>(index)]];
        group.push_back(index);
        if (group.size() == batch_size_) emit(group);
    }
    std::ranges::for_each(waiting, emit);
    indices_ = std::move(order);
}

StreamOrder::StreamOrder(std::int64_t tokens, std::int64_t batch_size, std::int64_t window)
    : stream_length_(tokens / batch_size), window_(window) {
    if (stream_length_ < 2) {
        throw Error(ErrorCode::settings,
                    msg("batch_size: {}: the text has {} tokens, and each row of a batch needs at "
                        "least 2 of its own",
                        batch_size, tokens),
                    msg("Take a smaller batch or a longer text."));
    }
    starts_.resize(static_cast<std::size_t>(batch_size));
}

std::int64_t StreamOrder::batches_per_epoch() const {
    // (L - 2) / window + 1, the same for L >= 2, cannot overflow for a large window.
    return (stream_length_ - 2) / window_ + 1;
}

std::span<const std::int64_t> StreamOrder::starts(std::int64_t index) {
    std::int64_t start = index * window_;
    for (auto& row : starts_) {
        row = start;
        start += stream_length_;
    }
    return starts_;
}

std::int64_t StreamOrder::length(std::int64_t index) const {
    return std::min(window_, stream_length_ - 1 - index * window_);
}

std::int64_t StreamOrder::position(std::int64_t index) const {
    return static_cast<std::int64_t>(starts_.size()) * index * window_;
}

std::unique_ptr<Sampler> make_sampler(const DataPart& part, const SamplerOptions& options) {
    if (!part.data->is_stream()) return std::make_unique<SampleSampler>(part, options);
    if (!options.order.empty()) {
        throw Error(
            ErrorCode::settings,
            msg("dataset.order: a text is read as contiguous streams and has no order file"),
            msg("Leave dataset.order empty."));
    }
    return std::make_unique<StreamSampler>(part, options);
}

}  // namespace engine
