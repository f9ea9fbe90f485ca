#include "io/coco/run_length.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace engine {
namespace {

/// The stretches of ones of a mask, in order.
class Ones {
public:
    explicit Ones(const RunLength& mask) : counts_(mask.counts) { next(); }

    bool at_end() const { return at_end_; }
    std::int64_t begin() const { return begin_; }
    std::int64_t end() const { return end_; }
    void next() {
        while (at_ + 1 < counts_.size()) {
            begin_ = end_ + counts_[at_];
            end_ = begin_ + counts_[at_ + 1];
            at_ += 2;
            if (begin_ < end_) return;
        }
        at_end_ = true;
    }

private:
    std::span<const std::uint32_t> counts_;
    std::size_t at_ = 0;
    std::int64_t begin_ = 0, end_ = 0;
    bool at_end_ = false;
};

/// Calls add(begin, end) for the stretches that both have.
void for_common(const RunLength& a, const RunLength& b, auto&& add) {
    Ones left(a), right(b);
    while (!left.at_end() && !right.at_end()) {
        const auto begin = std::max(left.begin(), right.begin());
        const auto end = std::min(left.end(), right.end());
        if (begin < end) add(begin, end);
        (left.end() < right.end() ? left : right).next();
    }
}

RunLength unite_two(const RunLength& a, const RunLength& b) {
    RunWriter out(a.height, a.width);
    Ones left(a), right(b);
    while (!left.at_end() || !right.at_end()) {
        const bool from_left = right.at_end() || (!left.at_end() && left.begin() <= right.begin());
        std::int64_t begin = from_left ? left.begin() : right.begin(), end = begin;
        // One stretch of the union: all that touch it, from both.
        for (bool grows = true; grows;) {
            grows = false;
            for (Ones* each : {&left, &right}) {
                if (each->at_end() || each->begin() > end) continue;
                end = std::max(end, each->end());
                each->next();
                grows = true;
            }
        }
        out.add(begin, end);
    }
    return out.finish();
}

}  // namespace

void RunWriter::add(std::int64_t begin, std::int64_t end) {
    assert(begin >= end_ && end <= mask_.pixels());
    if (begin >= end) return;
    auto& counts = mask_.counts;
    if (begin == end_ && !counts.empty()) {
        counts.back() += static_cast<std::uint32_t>(end - begin);
    } else {
        counts.push_back(static_cast<std::uint32_t>(begin - end_));
        counts.push_back(static_cast<std::uint32_t>(end - begin));
    }
    end_ = end;
}

RunLength RunWriter::finish() {
    if (end_ < mask_.pixels() || mask_.counts.empty())
        mask_.counts.push_back(static_cast<std::uint32_t>(mask_.pixels() - end_));
    return std::move(mask_);
}

std::map<std::uint16_t, NumberedMask> numbered_masks(std::span<const std::uint16_t> rows,
                                                     std::int32_t height, std::int32_t width) {
    struct Open {
        RunWriter runs;
        NumberedMask extent;
    };
    std::map<std::uint16_t, Open> open;
    const auto at = [&](std::int32_t x, std::int32_t y) {
        return rows[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                    static_cast<std::size_t>(x)];
    };
    for (std::int32_t x = 0; x < width; ++x) {
        for (std::int32_t y = 0; y < height;) {
            const std::int32_t top = y;
            const std::uint16_t number = at(x, y);
            while (y < height && at(x, y) == number) ++y;
            if (number == 0) continue;
            const NumberedMask none{.left = x, .top = top};
            auto& [runs, extent] =
                open.try_emplace(number, Open{RunWriter(height, width), none}).first->second;
            const std::int64_t column = std::int64_t{x} * height;
            runs.add(column + top, column + y);
            extent.top = std::min(extent.top, top);
            extent.bottom = std::max(extent.bottom, y);
            extent.right = x + 1;
        }
    }
    std::map<std::uint16_t, NumberedMask> out;
    for (auto& [number, each] : open) {
        each.extent.mask = each.runs.finish();
        out.emplace(number, std::move(each.extent));
    }
    return out;
}

RunLength encode_bitmap(std::span<const std::uint8_t> rows, std::int32_t height,
                        std::int32_t width) {
    RunWriter out(height, width);
    const auto stride = static_cast<std::size_t>(width);
    std::int64_t begin = -1, place = 0;
    for (std::size_t x = 0; x < stride; ++x) {
        for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y, ++place) {
            const bool one = rows[y * stride + x] != 0;
            if (one && begin < 0) begin = place;
            if (!one && begin >= 0) {
                out.add(begin, place);
                begin = -1;
            }
        }
    }
    if (begin >= 0) out.add(begin, place);
    return out.finish();
}

std::vector<std::uint8_t> decode_bitmap(const RunLength& mask) {
    std::vector<std::uint8_t> rows(static_cast<std::size_t>(mask.pixels()));
    for (Ones ones(mask); !ones.at_end(); ones.next()) {
        for (std::int64_t place = ones.begin(); place < ones.end(); ++place)
            rows[static_cast<std::size_t>(place % mask.height * mask.width + place / mask.height)] =
                1;
    }
    return rows;
}

std::string run_length_text(const RunLength& mask) {
    std::string text;
    for (std::size_t i = 0; i < mask.counts.size(); ++i) {
        std::int64_t value = mask.counts[i];
        if (i > 2) value -= mask.counts[i - 2];
        bool more = true;
        while (more) {
            std::int64_t bits = value & 0x1f;
            value >>= 5;
            more = (bits & 0x10) != 0 ? value != -1 : value != 0;
            text.push_back(static_cast<char>(48 + (more ? bits | 0x20 : bits)));
        }
    }
    return text;
}

std::optional<RunLength> read_run_length(std::string_view text, std::int32_t height,
                                         std::int32_t width) {
    constexpr int most_characters = 8;  // 40 bits; a difference of two counts has at most 33
    RunLength mask{height, width, {}};
    std::int64_t left = mask.pixels();
    for (std::size_t at = 0; at < text.size();) {
        std::int64_t value = 0;
        bool more = true;
        for (int i = 0; more; ++i, ++at) {
            if (at == text.size() || i == most_characters) return {};
            const int bits = static_cast<unsigned char>(text[at]) - 48;
            if (bits < 0 || bits > 0x3f) return {};
            value |= static_cast<std::int64_t>(bits & 0x1f) << (5 * i);
            more = (bits & 0x20) != 0;
            if (!more && (bits & 0x10) != 0) value -= std::int64_t{1} << (5 * (i + 1));
        }
        const std::size_t count = mask.counts.size();
        if (count > 2) value += mask.counts[count - 2];
        if (value < 0 || value > left) return {};
        left -= value;
        mask.counts.push_back(static_cast<std::uint32_t>(value));
    }
    return left == 0 && !mask.counts.empty() ? std::optional(std::move(mask)) : std::nullopt;
}

RunLength unite(std::span<const RunLength> masks) {
    // By halves, so that many small masks take n log n.
    if (masks.size() == 1) return masks.front();
    const std::size_t half = masks.size() / 2;
    return unite_two(unite(masks.first(half)), unite(masks.subspan(half)));
}

RunLength intersect(const RunLength& a, const RunLength& b) {
    RunWriter out(a.height, a.width);
    for_common(a, b, [&](std::int64_t begin, std::int64_t end) { out.add(begin, end); });
    return out.finish();
}

std::int64_t mask_area(const RunLength& mask) {
    std::int64_t area = 0;
    for (std::size_t i = 1; i < mask.counts.size(); i += 2) area += mask.counts[i];
    return area;
}

std::int64_t common_area(const RunLength& a, const RunLength& b) {
    std::int64_t area = 0;
    for_common(a, b, [&](std::int64_t begin, std::int64_t end) { area += end - begin; });
    return area;
}

std::array<double, 4> mask_box(const RunLength& mask) {
    std::int64_t left = mask.width, top = mask.height, right = -1, bottom = -1;
    for (Ones ones(mask); !ones.at_end(); ones.next()) {
        const std::int64_t first = ones.begin() / mask.height, y = ones.begin() % mask.height;
        const std::int64_t last = (ones.end() - 1) / mask.height;
        const std::int64_t y_last = (ones.end() - 1) % mask.height;
        left = std::min(left, first);
        right = std::max(right, last);
        top = first < last ? 0 : std::min(top, y);
        bottom = first < last ? mask.height - 1 : std::max(bottom, y_last);
    }
    if (right < 0) return {};
    return {static_cast<double>(left), static_cast<double>(top),
            static_cast<double>(right - left + 1), static_cast<double>(bottom - top + 1)};
}

bool lies_in_picture(const std::array<double, 4>& box, std::int32_t height, std::int32_t width) {
    const auto& [x, y, w, h] = box;
    const bool finite = std::all_of(box.begin(), box.end(), [](double each) { return std::isfinite(each); });
    return finite && w > 0 && h > 0 && x < width && y < height && x + w > 0 && y + h > 0;
}

double box_overlap(const std::array<double, 4>& detected, const std::array<double, 4>& truth,
                   bool crowd) {
    const auto [dx, dy, dw, dh] = detected;
    const auto [tx, ty, tw, th] = truth;
    const double width = std::min(dw + dx, tw + tx) - std::max(dx, tx);
    if (width <= 0) return 0;
    const double height = std::min(dh + dy, th + ty) - std::max(dy, ty);
    if (height <= 0) return 0;
    const double common = width * height, area = dw * dh;
    return common / (crowd ? area : area + tw * th - common);
}

double mask_overlap(const RunLength& detected, const RunLength& truth, bool crowd) {
    const std::int64_t common = common_area(detected, truth);
    if (common == 0) return 0;
    const std::int64_t area = mask_area(detected);
    return static_cast<double>(common) /
           static_cast<double>(crowd ? area : area + mask_area(truth) - common);
}

}  // namespace engine
