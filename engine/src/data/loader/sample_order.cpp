#include "data/loader/sample_order.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include "engine/base/error.h"
#include "tensor/philox.h"

namespace engine {
namespace {

// Eight million indices of an epoch; each takes up to four times its text in memory.
constexpr std::uintmax_t largest_order_file = std::uintmax_t{64} << 20;

[[noreturn]] void refuse_order(Message message) {
    throw Error(ErrorCode::data, std::move(message),
                msg("dataset.order takes a text file with one batch a line: sample indices from 0, "
                    "separated by spaces."));
}

std::ifstream open_order(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) refuse_order(msg("{}: no such file", file));
    if (std::filesystem::file_size(file, error) > largest_order_file) {
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

}  // namespace

SampleOrder::SampleOrder(std::int64_t size, const Options& options)
    : indices_(static_cast<std::size_t>(size)), shuffled_(options.shuffle), seed_(options.seed) {
    std::iota(indices_.begin(), indices_.end(), 0);
    const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(options.batch_size, 1));
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
    // From the identity each time: the order of an epoch must not hang on the epochs before it.
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
    epoch_ = epoch;
}

}  // namespace engine
