#include "data/detection/detection_results.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <unordered_set>

#include "engine/base/error.h"

namespace engine {
namespace {

class BytesOut {
public:
    template <typename T>
    requires std::is_trivially_copyable_v<T>
    void put(const T& value) {
        const auto bytes = std::as_bytes(std::span(&value, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void put_count(std::size_t count) { put(static_cast<std::uint64_t>(count)); }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

class BytesIn {
public:
    explicit BytesIn(std::span<const std::byte> bytes) : bytes_(bytes) {}
    bool at_end() const { return bytes_.empty(); }
    template <typename T>
    T take() {
        if (bytes_.size() < sizeof(T)) refuse();
        T value;
        std::memcpy(&value, bytes_.data(), sizeof(T));
        bytes_ = bytes_.subspan(sizeof(T));
        return value;
    }
    /// A count of things of which each takes at least one byte.
    std::size_t take_count() {
        const auto count = take<std::uint64_t>();
        if (count > bytes_.size()) refuse();
        return static_cast<std::size_t>(count);
    }

private:
    [[noreturn]] static void refuse() {
        throw Error(ErrorCode::data, "the results of another rank are damaged");
    }
    std::span<const std::byte> bytes_;
};

void put_classes(BytesOut& out, const std::vector<ClassMatches>& classes) {
    out.put_count(classes.size());
    for (const ClassMatches& each : classes) {
        out.put(each.label);
        out.put(each.truths);
        out.put_count(each.detections.size());
        for (const auto& entry : each.detections) {
            out.put(entry.score);
            out.put(entry.matched);
            out.put(entry.ignored);
        }
    }
}

std::vector<ClassMatches> take_classes(BytesIn& in) {
    std::vector<ClassMatches> classes(in.take_count());
    for (ClassMatches& each : classes) {
        each.label = in.take<std::int32_t>();
        each.truths = in.take<decltype(each.truths)>();
        each.detections.resize(in.take_count());
        for (auto& entry : each.detections) {
            entry.score = in.take<double>();
            entry.matched = in.take<decltype(entry.matched)>();
            entry.ignored = in.take<decltype(entry.ignored)>();
        }
    }
    return classes;
}

void put_id(BytesOut& out, const ImageId& id) {
    const auto* number = std::get_if<std::int64_t>(&id);
    out.put<std::uint8_t>(number != nullptr);
    if (number != nullptr) return out.put(*number);
    const auto& text = std::get<std::string>(id);
    out.put_count(text.size());
    for (const char each : text) out.put(each);
}

ImageId take_id(BytesIn& in) {
    if (in.take<std::uint8_t>() != 0) return in.take<std::int64_t>();
    std::string text(in.take_count(), '\0');
    for (char& each : text) each = in.take<char>();
    return text;
}

}  // namespace

std::vector<std::byte> DetectionResults::packed() const {
    BytesOut out;
    for (const PictureMatches& each : pictures_) {
        out.put(each.sample);
        put_id(out, each.image_id);
        put_classes(out, each.boxes);
        put_classes(out, each.masks);
        out.put_count(each.confusions.size());
        for (const auto& pair : each.confusions) out.put(pair);
    }
    return out.take();
}

void DetectionResults::merge(std::span<const std::byte> part) {
    std::unordered_set<std::int64_t> known;
    for (const PictureMatches& each : pictures_) known.insert(each.sample);
    for (BytesIn in(part); !in.at_end();) {
        PictureMatches each{.sample = in.take<std::int64_t>()};
        each.image_id = take_id(in);
        each.boxes = take_classes(in);
        each.masks = take_classes(in);
        each.confusions.resize(in.take_count());
        for (auto& pair : each.confusions) pair = in.take<std::array<std::int32_t, 2>>();
        if (known.insert(each.sample).second) pictures_.push_back(std::move(each));
    }
}

std::span<const PictureMatches> DetectionResults::pictures() {
    const bool numbered =
        std::all_of(pictures_.begin(), pictures_.end(), [](const PictureMatches& each) {
            return std::holds_alternative<std::int64_t>(each.image_id);
        });
    const auto place = [&](const PictureMatches& each) {
        return numbered ? std::get<std::int64_t>(each.image_id) : each.sample;
    };
    std::stable_sort(pictures_.begin(), pictures_.end(), [&](const auto& a, const auto& b) {
        return std::pair(place(a), a.sample) < std::pair(place(b), b.sample);
    });
    return pictures_;
}

ResultFiles::ResultFiles(const std::filesystem::path& name, std::vector<std::int64_t> class_ids,
                         bool masks)
    : class_ids_(std::move(class_ids)),
      names_{name.string() + ".bbox.json"},
      boxes_(names_.front()) {
    if (!masks) return;
    names_.emplace_back(name.string() + ".segm.json");
    masks_.emplace(names_.back());
}

void ResultFiles::add(const ImageId& image, std::span<const Detection> found) {
    for (const Detection& each : found) {
        const std::int64_t id =
            class_ids_.empty() ? each.label : class_ids_[static_cast<std::size_t>(each.label - 1)];
        boxes_.add_box(image, id, each.score, each.box);
        if (masks_) masks_->add_mask(image, id, each.score, each.mask);
    }
}

std::vector<std::filesystem::path> ResultFiles::commit() {
    boxes_.commit();
    if (masks_) masks_->commit();
    return names_;
}

}  // namespace engine
