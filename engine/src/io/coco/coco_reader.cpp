#include "io/coco/coco_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/base/error.h"

namespace engine {

std::string coco_id_text(const CocoId& id) {
    const auto* number = std::get_if<std::int64_t>(&id);
    return number != nullptr ? std::to_string(*number) : std::get<std::string>(id);
}

std::variant<std::monostate, MaskPolygons, RunLength> CocoFile::mask(
    const CocoAnnotation& annotation) const {
    if (annotation.mask.kind == CocoMasks::Kind::polygons) return masks->polygons(annotation.mask);
    if (annotation.mask.kind == CocoMasks::Kind::none) return {};
    const CocoImage& image = images[static_cast<std::size_t>(annotation.image)];
    auto runs = read_run_length(masks->text(annotation.mask), image.height, image.width);
    if (!runs) return {};
    return *std::move(runs);
}

namespace {

constexpr std::size_t most_annotations = 20'000'000;
constexpr std::size_t most_in_a_picture = 2'000;
constexpr std::size_t most_categories = 10'000;
constexpr std::int64_t most_pixels = std::int64_t{1} << 31;

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

bool is_whole(double number) { return std::abs(number) < 0x1p53 && number == std::floor(number); }

/// A whole number that may be written as 3.0.
std::optional<std::int64_t> whole_number(const CocoValue& value) {
    if (value.whole) return value.whole;
    if (value.number && is_whole(*value.number)) return static_cast<std::int64_t>(*value.number);
    return {};
}

std::optional<CocoId> read_image_id(const CocoValue& value) {
    if (value.text) return CocoId(*value.text);
    const auto whole = whole_number(value);
    return whole ? std::optional<CocoId>(*whole) : std::nullopt;
}

/// The runs of the entry as compressed text: counts as a text or a list; nothing if malformed.
std::optional<std::string> runs_text(const CocoEntry& entry) {
    if (entry.size.size() != 2) return {};
    if (entry.counts_text) return entry.counts_text;
    RunLength runs;
    for (const double each : entry.counts) {
        if (!is_whole(each) || each < 0 || each >= static_cast<double>(most_pixels)) return {};
        runs.counts.push_back(static_cast<std::uint32_t>(each));
    }
    return run_length_text(runs);
}

/// False where a segmentation is absent or empty, as box data may have it.
bool has_mask_values(const CocoEntry& entry) {
    const bool empty = entry.sizes.empty() && entry.size.empty() && entry.counts.empty() &&
                       !entry.counts_text && entry.good_segmentation;
    return entry.has_segmentation && !empty;
}

/// Checks the entries and joins them.
class CocoBuilder {
public:
    explicit CocoBuilder(const std::string& name) : name_(name) {}

    void add(CocoList list, CocoEntry& entry) {
        switch (list) {
            case CocoList::images:
                return add_image(entry);
            case CocoList::annotations:
                return add_annotation(entry);
            case CocoList::categories:
                return add_category(entry);
            case CocoList::other:
                return;
        }
    }
    CocoFile finish(bool drop_root) {
        resolve_images();
        resolve_categories(drop_root);
        return std::move(file_);
    }

private:
    void add_image(CocoEntry& entry);
    void add_category(CocoEntry& entry);
    void add_annotation(const CocoEntry& entry);
    CocoMasks::Place add_mask(const CocoEntry& entry);
    [[noreturn]] void refuse_image(const char* lacks) const;

    void resolve_images();
    void resolve_categories(bool drop_root);
    bool keeps(CocoAnnotation& annotation);
    void check_mask(CocoAnnotation& annotation);

    const std::string& name_;
    CocoFile file_;
    IdNumbers<CocoId> image_numbers_;
    IdNumbers<std::int64_t> category_numbers_;
    std::vector<std::int32_t> image_places_, category_places_;  // by number; -1: unknown
    std::vector<std::array<std::int32_t, 2>> run_sizes_;        // height, width, by text
};

void CocoBuilder::refuse_image(const char* lacks) const {
    throw Error(ErrorCode::data,
                msg("{}: image {} has no valid {}", name_, file_.images.size() + 1, lacks),
                "Each image needs id, file_name, width and height.");
}

void CocoBuilder::add_image(CocoEntry& entry) {
    CocoImage image;
    const auto id = read_image_id(entry.id);
    if (!id) refuse_image("id");
    image.id = *id;
    if (!entry.file_name.text || entry.file_name.text->empty()) refuse_image("file_name");
    image.file_name = *std::move(entry.file_name.text);
    const std::filesystem::path path(image.file_name);
    if (path.is_absolute() || image.file_name.find('\0') != std::string::npos ||
        std::find(path.begin(), path.end(), "..") != path.end())
        throw Error(ErrorCode::data, msg("{}: image {} leads out of its folder: {}", name_,
                                         coco_id_text(*id), image.file_name));
    const auto width = whole_number(entry.width), height = whole_number(entry.height);
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

void CocoBuilder::add_category(CocoEntry& entry) {
    const auto id = whole_number(entry.id);
    if (!id || !entry.name.text)
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
                                .name = *std::move(entry.name.text),
                                .supercategory = entry.supercategory.text.value_or("")});
}

/// Keeps the mask of the entry; Kind::none if it has none or a malformed one.
CocoMasks::Place CocoBuilder::add_mask(const CocoEntry& entry) {
    if (!entry.has_segmentation || !entry.good_segmentation) return {};
    if (!entry.size.empty() || entry.counts_text || !entry.counts.empty()) {
        const auto text = runs_text(entry);
        const auto fits = [](double side) {
            return is_whole(side) && side >= 1 && side < static_cast<double>(most_pixels);
        };
        if (!text || text->empty() || !fits(entry.size[0]) || !fits(entry.size[1])) return {};
        run_sizes_.push_back(
            {static_cast<std::int32_t>(entry.size[0]), static_cast<std::int32_t>(entry.size[1])});
        return file_.masks->add_runs(*text);
    }
    constexpr std::uint32_t least = 6, box = 4;  // numbers
    // pycocotools reads a first part of four numbers as a box.
    if (entry.sizes.empty() || entry.sizes.front() == box) return {};
    for (const std::uint32_t size : entry.sizes) {
        if (size < least || size % 2 != 0) return {};
    }
    for (const double each : entry.points) {
        if (!std::isfinite(each)) return {};
    }
    return file_.masks->add_polygons(entry.points, entry.sizes);
}

void CocoBuilder::add_annotation(const CocoEntry& entry) {
    file_.with_segmentation += has_mask_values(entry);
    const std::int64_t id = whole_number(entry.id).value_or(0);
    const auto image = read_image_id(entry.image_id);
    if (!image) return file_.unknown_image.add(id);
    const auto category = whole_number(entry.category_id);
    if (!category) return file_.unknown_category.add(id);
    if (entry.box.size() != 4) return file_.bad_box.add(id);
    if (file_.annotations.size() == most_annotations)
        throw Error(ErrorCode::data,
                    msg("{} has more than {} annotations", name_, most_annotations));
    if (entry.id.whole && id == 0) file_.id_zero.add(id);
    CocoAnnotation annotation{.id = id,
                              .image = image_numbers_.number(*image),
                              .category = category_numbers_.number(*category)};
    std::copy(entry.box.begin(), entry.box.end(), annotation.box.begin());
    if (entry.area.number) annotation.area = *entry.area.number;
    annotation.crowd = entry.iscrowd.number.value_or(0) != 0;
    annotation.mask = add_mask(entry);
    file_.annotations.push_back(annotation);
}

/// Numbers of images and categories become places in their lists.
void CocoBuilder::resolve_images() {
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

bool CocoBuilder::keeps(CocoAnnotation& annotation) {
    const std::int32_t place = image_places_[static_cast<std::size_t>(annotation.image)];
    const std::int32_t category = category_places_[static_cast<std::size_t>(annotation.category)];
    if (place < 0) return file_.unknown_image.add(annotation.id), false;
    if (category < 0) return file_.unknown_category.add(annotation.id), false;
    const CocoImage& image = file_.images[static_cast<std::size_t>(place)];
    if (!lies_in_picture(annotation.box, image.height, image.width))
        return file_.bad_box.add(annotation.id), false;
    annotation.image = place;
    annotation.category = category;
    return true;
}

void CocoBuilder::check_mask(CocoAnnotation& annotation) {
    if (annotation.mask.kind == CocoMasks::Kind::runs) {
        const CocoImage& image = file_.images[static_cast<std::size_t>(annotation.image)];
        const auto [height, width] = run_sizes_[annotation.mask.first];
        if (height != image.height || width != image.width ||
            !read_run_length(file_.masks->text(annotation.mask), height, width))
            annotation.mask = {};
    }
    if (annotation.mask.kind == CocoMasks::Kind::none) file_.no_mask.add(annotation.id);
}

void CocoBuilder::resolve_categories(bool drop_root) {
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

}  // namespace

CocoFile read_coco(const std::string& name, const CocoSource& source, bool drop_root) {
    CocoBuilder builder(name);
    read_coco_entries(name, source,
                      [&](CocoList list, CocoEntry& entry) { builder.add(list, entry); });
    return builder.finish(drop_root);
}

}  // namespace engine
