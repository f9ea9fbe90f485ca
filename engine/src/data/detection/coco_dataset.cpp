#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "data/byte_reader.h"
#include "data/data_files.h"
#include "data/dataset_descriptor.h"
#include "data/detection/detection_files.h"
#include "data/detection/detection_options.h"
#include "io/coco/coco_reader.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* roboflow_file = "_annotations.coco.json";
constexpr std::int64_t max_label = 10'000;

enum class PartRole { train, validation, test, all };

/// An annotation file, and the folders in which its pictures may lie.
struct CocoPart {
    PartRole role;
    fs::path file;
    std::vector<fs::path> roots;
};

PartRole role_of_part(const std::string& name) {
    const std::string lower = in_lower_case(name);
    if (lower.starts_with("train")) return PartRole::train;
    if (lower.starts_with("val")) return PartRole::validation;
    return lower.starts_with("test") ? PartRole::test : PartRole::all;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) out.push_back(entry.path());
    std::ranges::sort(out);
    return out;
}

bool is_json(const fs::path& file) {
    std::error_code ignored;
    return in_lower_case(file.extension().string()) == ".json" &&
           fs::is_regular_file(file, ignored);
}

/// annotations/instances_NAME.json
std::vector<CocoPart> coco_parts(const fs::path& folder, std::vector<Message>& notes) {
    constexpr std::string_view prefix = "instances_";
    std::vector<CocoPart> out;
    std::string passed_over;
    for (const fs::path& file : sorted_entries(folder / "annotations")) {
        const std::string stem = file.stem().string();
        if (!is_json(file)) continue;
        if (!stem.starts_with(prefix)) {
            passed_over += (passed_over.empty() ? "" : ", ") + file.filename().string();
            continue;
        }
        const std::string name = stem.substr(prefix.size());
        out.push_back({role_of_part(name), file,
                       {folder / name, folder / "images" / name, folder / "images", folder}});
    }
    if (!out.empty() && !passed_over.empty())
        notes.push_back(msg("{}: passed over, since they hold no instances: {}", folder.string(),
                            passed_over));
    return out;
}

/// PART/_annotations.coco.json beside its pictures.
std::vector<CocoPart> roboflow_parts(const fs::path& folder) {
    std::vector<CocoPart> out;
    for (const char* name : {"train", "valid", "val", "test"}) {
        const fs::path file = folder / name / roboflow_file;
        if (is_json(file)) out.push_back({role_of_part(name), file, {folder / name}});
    }
    return out;
}

CocoPart lone_part(const fs::path& file) {
    const fs::path beside = file.parent_path();
    return {PartRole::all, file, {beside, beside / "images", beside.parent_path()}};
}

std::vector<CocoPart> find_coco_parts(const fs::path& path, std::vector<Message>& notes) {
    if (is_json(path)) return {lone_part(path)};
    std::vector<CocoPart> out = coco_parts(path, notes);
    if (out.empty()) out = roboflow_parts(path);
    if (!out.empty()) return out;
    std::vector<fs::path> files = sorted_entries(path);
    std::erase_if(files, [](const fs::path& file) { return !is_json(file); });
    if (files.size() == 1) out.push_back(lone_part(files.front()));
    return out;
}

bool holds_yolo_labels(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path / "data.yaml", ignored) || path.filename() == "data.yaml" ||
           (fs::is_directory(path / "labels", ignored) &&
            fs::is_directory(path / "images", ignored));
}

/// The picture of this name in the first of the folders that has it; where none has, in the first.
fs::path find_coco_picture(const CocoPart& part, const std::string& name) {
    std::error_code ignored;
    for (const fs::path& root : part.roots) {
        if (fs::exists(root / name, ignored)) return file_within(root, name, part.file);
    }
    return part.roots.front() / name;
}

class CocoOpener {
public:
    CocoOpener(const DatasetConfig& config, const TypedOptions& options, std::stop_token stop)
        : options_(options), stop_(std::move(stop)), path_(detection_path(config, "coco")) {}

    DetectionFound find() {
        if (options_.word("label_ids") == "file" && !options_.words("classes").empty())
            throw Error(ErrorCode::settings,
                        msg("dataset.classes: chosen classes get the numbers 1, 2, 3, so "
                            "dataset.label_ids cannot be file"));
        std::vector<CocoPart> all = find_coco_parts(path_, found_.notes);
        if (all.empty()) refuse_folder();
        found_.name = path_.string();
        found_.whole_masks = true;
        give_roles(all);
        for (const CocoPart& part : all) read(part);
        // A class that the file of a part lacks has no number there.
        for (auto& ids : found_.class_ids)
            if (!ids.empty()) ids.resize(found_.classes.size(), 0);
        return std::move(found_);
    }

private:
    [[noreturn]] void refuse_folder() const {
        if (holds_yolo_labels(path_))
            throw Error(ErrorCode::data,
                        msg("{}: Halftone does not read YOLO labels yet", path_.string()),
                        msg("Export as COCO (Roboflow, CVAT, FiftyOne do)."));
        throw Error(ErrorCode::data, msg("{}: no annotations in COCO's format", path_.string()),
                    msg("Give a JSON file, a folder with annotations/instances_NAME.json, or one "
                        "with train/{} and others.",
                        roboflow_file));
    }

    /// The training part first. A validation part without a test part is the test part; one file
    /// alone is all data.
    void give_roles(std::vector<CocoPart>& all) const {
        const auto has = [&](PartRole role) {
            return std::ranges::find(all, role, &CocoPart::role) != all.end();
        };
        if (all.size() == 1 && all.front().role == PartRole::all)
            all.front().role = PartRole::train;
        if (has(PartRole::all))
            throw Error(ErrorCode::data,
                        msg("{}: several annotation files, and not all are named after a part",
                            path_.string()),
                        msg("Name them instances_train.json, instances_val.json and so on, or give "
                            "one file."));
        if (!has(PartRole::train))
            throw Error(ErrorCode::data, msg("{}: no training part", path_.string()),
                        msg("Give the annotations of one part as a file to split it."));
        if (!has(PartRole::test))
            for (CocoPart& part : all)
                if (part.role == PartRole::validation) part.role = PartRole::test;
        std::ranges::stable_sort(all, {}, &CocoPart::role);
        const auto twice = std::ranges::adjacent_find(all, {}, &CocoPart::role);
        if (twice != all.end())
            throw Error(ErrorCode::data,
                        msg("{}: {} and {} look like the same part", path_.string(),
                            twice->file.filename().string(),
                            std::next(twice)->file.filename().string()),
                        msg("Rename or move one of them."));
    }

    void read(const CocoPart& part) {
        const auto reader = open_packed(part.file, {.stop = stop_});
        const bool by_file = options_.word("label_ids") == "file";
        const CocoFile file = read_coco(
            part.file.string(),
            [&](std::span<std::uint8_t> out) { return reader->read(out); }, !by_file);
        note_counts(part, file);
        const std::vector<std::int32_t> labels = labels_of(part, file, by_file);
        std::vector<DetectionPicture>& pictures = pictures_of(part.role);
        for (const CocoImage& image : file.images) {
            DetectionPicture& picture = pictures.emplace_back();
            picture.file = find_coco_picture(part, image.file_name);
            picture.truth = {.image_id = image.id, .height = image.height, .width = image.width};
            for (std::uint32_t i = 0; i < image.count; ++i) {
                const CocoAnnotation& each = file.annotations[image.first + i];
                picture.truth.annotations.push_back(
                    {.label = labels[static_cast<std::size_t>(each.category)],
                     .box = each.box,
                     .area = each.area,
                     .crowd = each.crowd,
                     .mask = truth_mask(file, each)});
            }
        }
    }

    static DetectionTruth::Mask truth_mask(const CocoFile& file, const CocoAnnotation& annotation) {
        if (annotation.mask.kind == CocoMasks::Kind::polygons)
            return DetectionTruth::PackedPolygons{file.masks, annotation.mask};
        auto mask = file.mask(annotation);
        if (auto* const runs = std::get_if<RunLength>(&mask)) return std::move(*runs);
        return {};
    }

    std::vector<DetectionPicture>& pictures_of(PartRole role) {
        if (role == PartRole::test) return found_.test;
        return role == PartRole::validation ? found_.validation : found_.train;
    }
    /// In DetectionFound::class_ids.
    static std::size_t place_of(PartRole role) {
        return role == PartRole::test ? 2 : role == PartRole::validation ? 1 : 0;
    }

    /// The label of each category of a file: its id, or its place among all classes, which are
    /// those of the first file by their ids, and then those that others add.
    std::vector<std::int32_t> labels_of(const CocoPart& part, const CocoFile& file, bool by_file) {
        std::vector<std::size_t> order(file.categories.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::sort(order, {}, [&](std::size_t i) { return file.categories[i].id; });
        std::vector<std::int32_t> out(order.size());
        std::vector<std::int64_t>& ids = found_.class_ids[place_of(part.role)];
        for (const std::size_t i : order) {
            const CocoCategory& category = file.categories[i];
            auto at = std::ranges::find(found_.classes, category.name) - found_.classes.begin();
            if (by_file) {
                if (category.id < 1 || category.id > max_label)
                    throw Error(ErrorCode::settings,
                                msg("dataset.label_ids: file: {} has the category id {}; use dense",
                                    part.file.string(), category.id));
                at = category.id - 1;
                if (std::ssize(found_.classes) <= at)
                    found_.classes.resize(static_cast<std::size_t>(at) + 1);
                std::string& name = found_.classes[static_cast<std::size_t>(at)];
                if (!name.empty() && name != category.name)
                    throw Error(ErrorCode::data,
                                msg("{}: the category id {} is {}, and another file calls it {}",
                                    part.file.string(), category.id, category.name, name),
                                msg("Set dataset.label_ids to dense, or number them alike."));
                name = category.name;
            } else if (at == std::ssize(found_.classes)) {
                found_.classes.push_back(category.name);
            }
            out[i] = static_cast<std::int32_t>(at + 1);
            if (static_cast<std::ptrdiff_t>(ids.size()) <= at)
                ids.resize(static_cast<std::size_t>(at) + 1);
            ids[static_cast<std::size_t>(at)] = category.id;
        }
        return out;
    }

    void note_counts(const CocoPart& part, const CocoFile& file) {
        const std::string name = part.file.string();
        if (const auto& [count, id] = file.unknown_image; count > 0)
            found_.notes.push_back(msg("{}: {} annotations of pictures that it does not list are "
                                       "left out. The first has the id {}",
                                       name, count, id));
        if (const auto& [count, id] = file.unknown_category; count > 0)
            found_.notes.push_back(msg("{}: {} annotations of categories that it does not list are "
                                       "left out. The first has the id {}",
                                       name, count, id));
        if (const auto& [count, id] = file.bad_box; count > 0)
            found_.notes.push_back(msg("{}: {} annotations whose box has no area in its picture "
                                       "are left out. The first has the id {}",
                                       name, count, id));
        if (const auto& [count, id] = file.no_mask;
            file.with_segmentation > 0 && count == std::ssize(file.annotations))
            found_.notes.push_back(
                msg("{}: none of the segmentations of {} annotations fits its "
                    "picture, so they train as boxes. The first has the id {}",
                    name, file.with_segmentation, id));
        if (file.id_zero.count > 0)
            found_.notes.push_back(
                msg("{}: an annotation has the id 0, which pycocotools would count as never found. "
                    "Here it counts as any other",
                    name));
        if (!file.root_category.empty())
            found_.notes.push_back(msg("{}: the category {} is the root of the others and has no "
                                       "objects, so it is no class",
                                       name, file.root_category));
    }

    const TypedOptions& options_;
    std::stop_token stop_;
    fs::path path_;
    DetectionFound found_;
};

std::vector<OptionSpec> coco_options() {
    std::vector<OptionSpec> out = detection_options();
    out.push_back(option("label_ids", "Class numbers", std::string("dense"),
                         "Numbers of the classes in the model.",
                         opt::one_of({{"dense", "Dense", "1, 2, 3, by their ids in the file."},
                                      {"file", "As in the file",
                                       "The category ids, with their gaps, as COCO weights of "
                                       "torchvision need them: 91 outputs."}})));
    return out;
}

/// Whether the beginning of a file has a list of COCO's format and a key of its entries.
bool begins_as_coco(const fs::path& file) {
    std::vector<std::uint8_t> head(std::size_t{64} << 10);
    try {
        head.resize(open_packed(file)->read(head));
    } catch (const Error&) {
        return false;
    }
    std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    const auto has = [&](const char* key) { return text.find(key) != text.npos; };
    // Either list may come first, and be longer than the beginning.
    return text.find_first_not_of(" \t\r\n") == text.find('{') &&
           ((has("\"images\"") && has("\"file_name\"")) ||
            (has("\"annotations\"") && has("\"image_id\"")));
}

bool recognise_coco(const fs::path& path) {
    std::vector<Message> notes;
    const std::vector<CocoPart> parts = find_coco_parts(path, notes);
    return !parts.empty() && begins_as_coco(parts.front().file);
}

}  // namespace

DatasetDescriptor coco_descriptor() {
    return {.kind = "coco",
            .title = "COCO",
            .summary = "Pictures with boxes and masks in COCO's JSON format, as COCO itself, "
                       "Roboflow, CVAT and FiftyOne write it.",
            .needs = "a JSON file, or the folder with the annotations and the pictures",
            .unit = "images",
            .augments = true,
            .usual_batch = 2,
            .options = coco_options(),
            .schema = [](const DatasetConfig&) { return typical_detection_schema(); },
            .files_decide = true,
            .open =
                [](const DatasetConfig& config, std::int64_t seed, const std::stop_token& stop) {
                    const std::vector<OptionSpec> specs = coco_options();
                    const TypedOptions options(config.options, specs);
                    return open_detection(CocoOpener(config, options, stop).find(), config, options,
                                          seed, stop);
                },
            .recognise = recognise_coco};
}

}  // namespace engine
