#include "io/coco/coco_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/error.h"

namespace engine {

/// Polygons in blocks of a mebibyte, so that growing never holds two copies of all.
struct CocoMasks::Blocks {
    static constexpr std::size_t block = std::size_t{1} << 17;  // doubles
    struct Text {
        std::uint32_t block, at, size;
    };
    struct Part {
        const double* points;
        std::uint32_t size;
    };
    std::vector<std::vector<double>> points{};
    std::vector<Part> parts{};
    std::vector<std::string> texts{};
    std::vector<Text> text_places{};

    const double* keep(std::span<const double> added) {
        if (points.empty() || points.back().capacity() - points.back().size() < added.size()) {
            const std::size_t numbers = points.empty() ? block / 128 : block;
            points.emplace_back().reserve(std::max(added.size(), numbers));
        }
        auto& last = points.back();
        last.insert(last.end(), added.begin(), added.end());
        return last.data() + last.size() - added.size();
    }
};

CocoMasks::CocoMasks() : blocks_(std::make_unique<Blocks>()) {}
CocoMasks::~CocoMasks() = default;
CocoMasks::CocoMasks(CocoMasks&&) noexcept = default;
CocoMasks& CocoMasks::operator=(CocoMasks&&) noexcept = default;

CocoMasks::Place CocoMasks::add_polygons(std::span<const double> points,
                                         std::span<const std::uint32_t> sizes) {
    const Place place{.first = static_cast<std::uint32_t>(blocks_->parts.size()),
                      .count = static_cast<std::uint32_t>(sizes.size()),
                      .kind = Kind::polygons};
    for (const std::uint32_t size : sizes) {
        blocks_->parts.push_back({blocks_->keep(points.first(size)), size});
        points = points.subspan(size);
    }
    return place;
}

CocoMasks::Place CocoMasks::add_runs(std::string_view text) {
    auto& texts = blocks_->texts;
    constexpr std::size_t block = std::size_t{1} << 20;
    if (texts.empty() || texts.back().size() + text.size() > block) texts.emplace_back();
    blocks_->text_places.push_back({static_cast<std::uint32_t>(texts.size() - 1),
                                    static_cast<std::uint32_t>(texts.back().size()),
                                    static_cast<std::uint32_t>(text.size())});
    texts.back() += text;
    return {.first = static_cast<std::uint32_t>(blocks_->text_places.size() - 1),
            .count = 1,
            .kind = Kind::runs};
}

MaskPolygons CocoMasks::polygons(const Place& place) const {
    MaskPolygons parts;
    for (const auto& part : std::span(blocks_->parts).subspan(place.first, place.count))
        parts.emplace_back(part.points, part.points + part.size);
    return parts;
}

std::string_view CocoMasks::text(const Place& place) const {
    const auto& [block, at, size] = blocks_->text_places[place.first];
    return std::string_view(blocks_->texts[block]).substr(at, size);
}

std::string coco_id_text(const CocoId& id) {
    const auto* number = std::get_if<std::int64_t>(&id);
    return number != nullptr ? std::to_string(*number) : std::get<std::string>(id);
}

std::variant<std::monostate, MaskPolygons, RunLength> CocoFile::mask(
    const CocoAnnotation& annotation) const {
    if (annotation.mask.kind == CocoMasks::Kind::polygons) return masks.polygons(annotation.mask);
    if (annotation.mask.kind == CocoMasks::Kind::none) return {};
    const CocoImage& image = images[static_cast<std::size_t>(annotation.image)];
    auto runs = read_run_length(masks.text(annotation.mask), image.height, image.width);
    if (!runs) return {};
    return *std::move(runs);
}

namespace {

using nlohmann::json;

constexpr std::uint64_t largest_file = std::uint64_t{4} << 30;
constexpr std::size_t longest_text = std::size_t{64} << 20;
constexpr int deepest = 64;
constexpr std::size_t most_annotations = 20'000'000;
constexpr std::size_t most_in_a_picture = 2'000;
constexpr std::size_t most_categories = 10'000;
constexpr std::size_t most_numbers = std::size_t{1} << 22;  // of a mask; more are malformed
constexpr std::int64_t most_pixels = std::int64_t{1} << 31;

/// The characters of a source, as the JSON parser takes them.
class SourceText {
public:
    SourceText(const std::string& name, const CocoSource& source)
        : name_(name), source_(source), buffer_(std::size_t{1} << 18) {
        fill();
    }
    bool at_end() const { return at_ == size_; }
    char get() const { return static_cast<char>(buffer_[at_]); }
    void next() {
        if (++at_ == size_) fill();
    }

private:
    void fill() {
        at_ = 0;
        if (ended_) {
            size_ = 0;
            return;
        }
        size_ = source_(buffer_);
        ended_ = size_ < buffer_.size();
        read_ += size_;
        if (read_ > largest_file)
            throw Error(ErrorCode::data, msg("{} is larger than 4 GiB", name_));
    }

    const std::string& name_;
    const CocoSource& source_;
    std::vector<std::uint8_t> buffer_;
    std::size_t at_ = 0, size_ = 0;
    std::uint64_t read_ = 0;
    bool ended_ = false;
};

struct SourceIterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    SourceText* text = nullptr;  ///< null: the end
    char operator*() const { return text->get(); }
    SourceIterator& operator++() {
        text->next();
        return *this;
    }
    SourceIterator operator++(int) {
        const SourceIterator before = *this;
        text->next();
        return before;
    }
    bool operator==(const SourceIterator& other) const { return is_end() == other.is_end(); }
    bool is_end() const { return text == nullptr || text->at_end(); }
};

/// Numbers each id that it sees, in any order of the lists.
template <typename Id>
class IdNumbers {
public:
    std::int32_t number(const Id& id) {
        return numbers_.try_emplace(id, static_cast<std::int32_t>(numbers_.size())).first->second;
    }
    std::size_t size() const { return numbers_.size(); }

private:
    std::unordered_map<Id, std::int32_t> numbers_;
};

enum class List { images, annotations, categories, other };
constexpr std::array<const char*, 3> list_names = {"images", "annotations", "categories"};

/// The keys of an entry that are read.
enum class Key {
    other,
    id,
    image_id,
    category_id,
    bbox,
    area,
    iscrowd,
    segmentation,
    file_name,
    width,
    height,
    name,
    supercategory
};

Key entry_key(const std::string& word) {
    static const std::unordered_map<std::string, Key> keys = {
        {"id", Key::id},
        {"image_id", Key::image_id},
        {"category_id", Key::category_id},
        {"bbox", Key::bbox},
        {"area", Key::area},
        {"iscrowd", Key::iscrowd},
        {"segmentation", Key::segmentation},
        {"file_name", Key::file_name},
        {"width", Key::width},
        {"height", Key::height},
        {"name", Key::name},
        {"supercategory", Key::supercategory}};
    const auto found = keys.find(word);
    return found != keys.end() ? found->second : Key::other;
}

/// A value of a key: absent, a number or a text.
struct Value {
    std::optional<double> number{};
    std::optional<std::int64_t> whole{};
    std::optional<std::string> text{};
};

/// An entry of one of the lists while it is read.
struct Entry {
    Value id{}, image_id{}, category_id{}, area{}, iscrowd{}, file_name{}, width{}, height{},
        name{}, supercategory{};
    std::vector<double> box{};
    bool has_segmentation = false, good_segmentation = true;
    std::vector<double> points{};
    std::vector<std::uint32_t> sizes{};  ///< numbers of each part
    std::vector<double> counts{}, size{};
    std::optional<std::string> counts_text{};

    void clear() {
        for (Value* each : {&id, &image_id, &category_id, &area, &iscrowd, &file_name, &width,
                            &height, &name, &supercategory})
            *each = {};
        for (auto* each : {&box, &points, &counts, &size}) each->clear();
        sizes.clear();
        counts_text.reset();
        has_segmentation = false;
        good_segmentation = true;
    }
};

bool is_whole(double number) { return std::abs(number) < 0x1p53 && number == std::floor(number); }

/// A whole number that may be written as 3.0.
std::optional<std::int64_t> whole_number(const Value& value) {
    if (value.whole) return value.whole;
    if (value.number && is_whole(*value.number)) return static_cast<std::int64_t>(*value.number);
    return {};
}

std::optional<CocoId> read_image_id(const Value& value) {
    if (value.text) return CocoId(*value.text);
    const auto whole = whole_number(value);
    return whole ? std::optional<CocoId>(*whole) : std::nullopt;
}

/// Takes the parser's calls.
class CocoHandler {
public:
    explicit CocoHandler(const std::string& name) : name_(name) {}

    bool null() {
        if (list_ == List::other) return true;
        check_place();
        if (depth_ > 3 && key_ == Key::segmentation) entry_.good_segmentation = false;
        return true;
    }
    bool boolean(bool value) { return number(value ? 1 : 0, value ? 1 : 0); }
    bool number_integer(std::int64_t value) { return number(static_cast<double>(value), value); }
    bool number_unsigned(std::uint64_t value) {
        constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        if (value > most) return number(static_cast<double>(value), {});
        return number(static_cast<double>(value), static_cast<std::int64_t>(value));
    }
    bool number_float(double value, const std::string&) { return number(value, {}); }
    bool binary(json::binary_t&) { return false; }

    bool string(std::string& value) {
        check_text(value);
        if (list_ == List::other) return true;
        check_place();
        if (depth_ == 3) {
            if (Value* const place = key_value()) place->text = std::move(value);
            if (key_ == Key::segmentation) entry_.good_segmentation = false;
        } else if (depth_ == 4 && in_runs_) {
            if (runs_key_ == RunsKey::counts) entry_.counts_text = std::move(value);
        } else if (key_ == Key::segmentation) {
            entry_.good_segmentation = false;
        }
        return true;
    }

    bool key(std::string& word) {
        check_text(word);
        if (depth_ == 1) {
            list_ = List::other;
            for (std::size_t i = 0; i < list_names.size(); ++i) {
                if (word != list_names[i]) continue;
                list_ = static_cast<List>(i);
                if (std::exchange(seen_[i], true))
                    throw Error(ErrorCode::data, msg("{} gives {} twice", name_, word));
            }
        } else if (depth_ == 3 && list_ != List::other) {
            key_ = entry_key(word);
            if (key_ == Key::segmentation) entry_.has_segmentation = true;
        } else if (depth_ == 4 && in_runs_) {
            runs_key_ = word == "counts" ? RunsKey::counts
                        : word == "size" ? RunsKey::size
                                         : RunsKey::other;
        }
        return true;
    }

    bool start_object(std::size_t) {
        descend();
        if (list_ == List::other) return true;
        if (depth_ == 2) refuse_list();
        if (depth_ == 3) {
            entry_.clear();
            key_ = Key::other;
        }
        if (depth_ == 4 && key_ == Key::segmentation && list_ == List::annotations) in_runs_ = true;
        if (depth_ > 4 && key_ == Key::segmentation) entry_.good_segmentation = false;
        return true;
    }
    bool end_object() {
        if (depth_ == 3 && list_ != List::other) end_entry();
        if (depth_ == 4) in_runs_ = false;
        --depth_;
        return true;
    }
    bool start_array(std::size_t) {
        descend();
        if (depth_ == 1) refuse_root();
        if (list_ == List::other) return true;
        if (depth_ == 3) refuse_entry();
        if (key_ == Key::segmentation && !in_runs_) {
            if (depth_ == 5) entry_.sizes.push_back(0);
            if (depth_ > 5) entry_.good_segmentation = false;
        }
        return true;
    }
    bool end_array() {
        --depth_;
        return true;
    }

    bool parse_error(std::size_t byte, const std::string& token, const json::exception& error) {
        if (dynamic_cast<const json::out_of_range*>(&error) != nullptr)
            throw Error(ErrorCode::data, msg("{}, byte {}: the number {} is too large", name_, byte,
                                             token.substr(0, 40)));
        throw Error(ErrorCode::data,
                    msg("{} is not JSON, or is cut short, at byte {}", name_, byte),
                    "Download or export it again.");
    }

    CocoFile finish(bool drop_root);

private:
    enum class RunsKey { other, counts, size };

    void check_text(const std::string& text) const {
        if (text.size() > longest_text)
            throw Error(ErrorCode::data, msg("{} holds a text of more than 64 MiB", name_));
    }
    void descend() {
        if (++depth_ > deepest)
            throw Error(ErrorCode::data,
                        msg("{} is nested more than {} levels deep", name_, deepest));
    }
    [[noreturn]] void refuse_root() const {
        throw Error(ErrorCode::data,
                    msg("{} is no COCO file: it has no images, annotations and categories", name_));
    }
    [[noreturn]] void refuse_list() const {
        throw Error(ErrorCode::data,
                    msg("{}: {} is no list", name_, list_names[static_cast<std::size_t>(list_)]));
    }
    [[noreturn]] void refuse_entry() const {
        throw Error(ErrorCode::data, msg("{}: an entry of {} is no object", name_,
                                         list_names[static_cast<std::size_t>(list_)]));
    }

    /// A plain value is no list, and no entry of one.
    void check_place() const {
        if (depth_ == 1) refuse_list();
        if (depth_ == 2) refuse_entry();
    }

    Value* key_value() {
        switch (key_) {
            case Key::id:
                return &entry_.id;
            case Key::image_id:
                return &entry_.image_id;
            case Key::category_id:
                return &entry_.category_id;
            case Key::area:
                return &entry_.area;
            case Key::iscrowd:
                return &entry_.iscrowd;
            case Key::file_name:
                return &entry_.file_name;
            case Key::width:
                return &entry_.width;
            case Key::height:
                return &entry_.height;
            case Key::name:
                return &entry_.name;
            case Key::supercategory:
                return &entry_.supercategory;
            default:
                return nullptr;
        }
    }

    bool number(double value, std::optional<std::int64_t> whole) {
        if (list_ == List::other) return true;
        check_place();
        if (depth_ == 3) {
            if (Value* const place = key_value()) {
                place->number = value;
                place->whole = whole;
            } else if (key_ == Key::segmentation) {
                entry_.good_segmentation = false;
            }
        } else if (in_runs_) {
            if (depth_ == 5 && runs_key_ == RunsKey::counts) add_number(entry_.counts, value);
            if (depth_ == 5 && runs_key_ == RunsKey::size) add_number(entry_.size, value);
        } else if (key_ == Key::bbox) {
            if (depth_ == 4 && entry_.box.size() < 5) entry_.box.push_back(value);
        } else if (key_ == Key::segmentation) {
            if (depth_ == 5 && !entry_.sizes.empty()) {
                add_number(entry_.points, value);
                ++entry_.sizes.back();
            } else {
                entry_.good_segmentation = false;
            }
        }
        return true;
    }

    void add_number(std::vector<double>& numbers, double value) {
        if (numbers.size() < most_numbers)
            numbers.push_back(value);
        else
            entry_.good_segmentation = false;
    }

    void end_entry() {
        switch (list_) {
            case List::images:
                return end_image();
            case List::annotations:
                return end_annotation();
            case List::categories:
                return end_category();
            case List::other:
                return;
        }
    }
    void end_image();
    void end_category();
    void end_annotation();
    CocoMasks::Place end_mask();
    std::optional<std::string> runs_text() const;
    [[noreturn]] void refuse_image(const char* lacks) const;

    void check_lists() const;
    void resolve_images();
    void resolve_categories(bool drop_root);
    void keep_annotations();
    bool keeps(CocoAnnotation& annotation);
    void check_mask(CocoAnnotation& annotation);

    const std::string& name_;
    int depth_ = 0;
    List list_ = List::other;
    bool in_runs_ = false;  ///< in a segmentation that is an object
    Key key_ = Key::other;
    RunsKey runs_key_ = RunsKey::other;
    std::array<bool, 3> seen_{};
    Entry entry_;

    CocoFile file_;
    IdNumbers<CocoId> image_numbers_;
    IdNumbers<std::int64_t> category_numbers_;
    std::vector<std::int32_t> image_places_, category_places_;  // by number; -1: unknown
    std::vector<std::array<std::int32_t, 2>> run_sizes_;        // height, width, by text
};

void CocoHandler::refuse_image(const char* lacks) const {
    throw Error(ErrorCode::data,
                msg("{}: image {} has no valid {}", name_, file_.images.size() + 1, lacks),
                "Each image needs id, file_name, width and height.");
}

void CocoHandler::end_image() {
    CocoImage image;
    const auto id = read_image_id(entry_.id);
    if (!id) refuse_image("id");
    image.id = *id;
    if (!entry_.file_name.text || entry_.file_name.text->empty()) refuse_image("file_name");
    image.file_name = *std::move(entry_.file_name.text);
    const std::filesystem::path path(image.file_name);
    if (path.is_absolute() || image.file_name.find('\0') != std::string::npos ||
        std::find(path.begin(), path.end(), "..") != path.end())
        throw Error(ErrorCode::data, msg("{}: image {} leads out of its folder: {}", name_,
                                         coco_id_text(*id), image.file_name));
    const auto width = whole_number(entry_.width), height = whole_number(entry_.height);
    const auto fits = [](const std::optional<std::int64_t>& side) {
        return side && *side >= 1 && *side < most_pixels;
    };
    if (!fits(width)) refuse_image("width");
    if (!fits(height) || *width > (most_pixels - 1) / *height) refuse_image("height");
    image.width = static_cast<std::int32_t>(*width);
    image.height = static_cast<std::int32_t>(*height);
    const auto number = static_cast<std::size_t>(image_numbers_.number(image.id));
    if (image_places_.size() <= number) image_places_.resize(number + 1, -1);
    if (image_places_[number] >= 0)
        throw Error(ErrorCode::data,
                    msg("{} has two images with the id {}", name_, coco_id_text(image.id)));
    image_places_[number] = static_cast<std::int32_t>(file_.images.size());
    file_.images.push_back(std::move(image));
}

void CocoHandler::end_category() {
    const auto id = whole_number(entry_.id);
    if (!id || !entry_.name.text)
        throw Error(ErrorCode::data, msg("{}: category {} has no valid {}", name_,
                                         file_.categories.size() + 1, id ? "name" : "id"));
    if (file_.categories.size() == most_categories)
        throw Error(ErrorCode::data, msg("{} has more than {} categories", name_, most_categories));
    const auto number = static_cast<std::size_t>(category_numbers_.number(*id));
    if (category_places_.size() <= number) category_places_.resize(number + 1, -1);
    if (category_places_[number] >= 0)
        throw Error(ErrorCode::data, msg("{} has two categories with the id {}", name_, *id));
    category_places_[number] = static_cast<std::int32_t>(file_.categories.size());
    file_.categories.push_back({.id = *id,
                                .name = *std::move(entry_.name.text),
                                .supercategory = entry_.supercategory.text.value_or("")});
}

/// The runs of the entry as compressed text: counts as a text or a list; nothing if malformed.
std::optional<std::string> CocoHandler::runs_text() const {
    if (entry_.size.size() != 2) return {};
    if (entry_.counts_text) return entry_.counts_text;
    RunLength runs;
    for (const double each : entry_.counts) {
        if (!is_whole(each) || each < 0 || each >= static_cast<double>(most_pixels)) return {};
        runs.counts.push_back(static_cast<std::uint32_t>(each));
    }
    return run_length_text(runs);
}

/// Keeps the mask of the entry; Kind::none if it has none or a malformed one.
CocoMasks::Place CocoHandler::end_mask() {
    if (!entry_.has_segmentation || !entry_.good_segmentation) return {};
    if (!entry_.size.empty() || entry_.counts_text || !entry_.counts.empty()) {
        const auto text = runs_text();
        const auto fits = [](double side) {
            return is_whole(side) && side >= 1 && side < static_cast<double>(most_pixels);
        };
        if (!text || text->empty() || !fits(entry_.size[0]) || !fits(entry_.size[1])) return {};
        run_sizes_.push_back(
            {static_cast<std::int32_t>(entry_.size[0]), static_cast<std::int32_t>(entry_.size[1])});
        return file_.masks.add_runs(*text);
    }
    constexpr std::uint32_t least = 6, box = 4;  // numbers
    // pycocotools reads a first part of four numbers as a box.
    if (entry_.sizes.empty() || entry_.sizes.front() == box) return {};
    for (const std::uint32_t size : entry_.sizes) {
        if (size < least || size % 2 != 0) return {};
    }
    for (const double each : entry_.points) {
        if (!std::isfinite(each)) return {};
    }
    return file_.masks.add_polygons(entry_.points, entry_.sizes);
}

void CocoHandler::end_annotation() {
    file_.with_segmentation += entry_.has_segmentation;
    const std::int64_t id = whole_number(entry_.id).value_or(0);
    const auto image = read_image_id(entry_.image_id);
    if (!image) return file_.unknown_image.add(id);
    const auto category = whole_number(entry_.category_id);
    if (!category) return file_.unknown_category.add(id);
    if (entry_.box.size() != 4) return file_.bad_box.add(id);
    if (file_.annotations.size() == most_annotations)
        throw Error(ErrorCode::data,
                    msg("{} has more than {} annotations", name_, most_annotations));
    if (entry_.id.whole && id == 0) file_.id_zero.add(id);
    CocoAnnotation annotation{.id = id,
                              .image = image_numbers_.number(*image),
                              .category = category_numbers_.number(*category)};
    std::copy(entry_.box.begin(), entry_.box.end(), annotation.box.begin());
    if (entry_.area.number) annotation.area = *entry_.area.number;
    annotation.crowd = entry_.iscrowd.number.value_or(0) != 0;
    annotation.mask = end_mask();
    file_.annotations.push_back(annotation);
}

void CocoHandler::check_lists() const {
    for (std::size_t i = 0; i < list_names.size(); ++i) {
        if (!seen_[i])
            throw Error(ErrorCode::data,
                        msg("{} is no COCO file: it has no {}", name_, list_names[i]));
    }
}

/// Numbers of images and categories become places in their lists.
void CocoHandler::resolve_images() {
    image_places_.resize(image_numbers_.size(), -1);
    category_places_.resize(category_numbers_.size(), -1);
    std::erase_if(file_.annotations, [&](CocoAnnotation& each) { return !keeps(each); });
    std::stable_sort(file_.annotations.begin(), file_.annotations.end(),
                     [](const auto& a, const auto& b) { return a.image < b.image; });
    for (std::size_t i = 0; i < file_.annotations.size(); ++i) {
        CocoAnnotation& each = file_.annotations[i];
        CocoImage& image = file_.images[static_cast<std::size_t>(each.image)];
        if (image.count++ == 0) image.first = static_cast<std::uint32_t>(i);
        if (image.count > most_in_a_picture)
            throw Error(ErrorCode::data, msg("{}: image {} has more than {} annotations", name_,
                                             coco_id_text(image.id), most_in_a_picture));
        ++file_.categories[static_cast<std::size_t>(each.category)].annotations;
        check_mask(each);
    }
}

bool CocoHandler::keeps(CocoAnnotation& annotation) {
    const std::int32_t place = image_places_[static_cast<std::size_t>(annotation.image)];
    const std::int32_t category = category_places_[static_cast<std::size_t>(annotation.category)];
    if (place < 0) return file_.unknown_image.add(annotation.id), false;
    if (category < 0) return file_.unknown_category.add(annotation.id), false;
    const CocoImage& image = file_.images[static_cast<std::size_t>(place)];
    const auto [x, y, width, height] = annotation.box;
    // Written so that NaN is refused.
    const bool lies_inside = x < image.width && y < image.height && x + width > 0 && y + height > 0;
    const bool is_finite = std::all_of(annotation.box.begin(), annotation.box.end(),
                                       [](double each) { return std::isfinite(each); });
    if (!(width > 0 && height > 0 && lies_inside && is_finite))
        return file_.bad_box.add(annotation.id), false;
    annotation.image = place;
    annotation.category = category;
    return true;
}

void CocoHandler::check_mask(CocoAnnotation& annotation) {
    if (annotation.mask.kind == CocoMasks::Kind::runs) {
        const CocoImage& image = file_.images[static_cast<std::size_t>(annotation.image)];
        const auto [height, width] = run_sizes_[annotation.mask.first];
        if (height != image.height || width != image.width ||
            !read_run_length(file_.masks.text(annotation.mask), height, width))
            annotation.mask = {};
    }
    if (annotation.mask.kind == CocoMasks::Kind::none) file_.no_mask.add(annotation.id);
}

void CocoHandler::resolve_categories(bool drop_root) {
    std::unordered_map<std::string, int> children;
    for (const CocoCategory& each : file_.categories) ++children[each.supercategory];
    if (drop_root) {
        const auto root = std::find_if(
            file_.categories.begin(), file_.categories.end(), [&](const CocoCategory& each) {
                const int itself = each.supercategory == each.name ? 1 : 0;
                return each.annotations == 0 && children[each.name] > itself;
            });
        if (root != file_.categories.end()) {
            file_.root_category = root->name;
            const auto place = static_cast<std::int32_t>(root - file_.categories.begin());
            file_.categories.erase(root);
            for (CocoAnnotation& each : file_.annotations) each.category -= each.category > place;
        }
    }
    std::unordered_set<std::string> names;
    for (const CocoCategory& each : file_.categories) {
        if (!names.insert(each.name).second)
            throw Error(ErrorCode::data,
                        msg("{} has two categories with the name {}", name_, each.name));
    }
}

CocoFile CocoHandler::finish(bool drop_root) {
    check_lists();
    resolve_images();
    resolve_categories(drop_root);
    return std::move(file_);
}

}  // namespace

CocoFile read_coco(const std::string& name, const CocoSource& source, bool drop_root) {
    SourceText text(name, source);
    CocoHandler handler(name);
    json::sax_parse(SourceIterator{&text}, SourceIterator{}, &handler);
    return handler.finish(drop_root);
}

}  // namespace engine
