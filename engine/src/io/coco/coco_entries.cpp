#include "io/coco/coco_entries.h"

#include <array>
#include <unordered_map>
#include <utility>

#include "engine/base/error.h"
#include "io/coco/json_scanner.h"

namespace engine {
namespace {

constexpr std::size_t most_numbers = std::size_t{1} << 22;  // of a mask; more are malformed

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

/// Makes entries of a text's values.
class EntryHandler final : public JsonEvents {
public:
    EntryHandler(const std::string& name, const std::function<void(CocoList, CocoEntry&)>& take)
        : name_(name), take_(take) {}

    void on_null() override {
        if (list_ == CocoList::other) return;
        check_place();
        if (depth_ > 3 && key_ == Key::segmentation) entry_.good_segmentation = false;
    }
    /// Stands for a number in iscrowd alone.
    void on_boolean(bool value) override {
        if (list_ != CocoList::other && depth_ == 3 && key_ == Key::iscrowd)
            return on_number(value ? 1 : 0, value ? 1 : 0);
        on_null();
    }
    void on_number(double value, std::optional<std::int64_t> whole) override {
        if (list_ == CocoList::other) return;
        check_place();
        if (depth_ == 3) {
            if (CocoValue* const place = key_value()) {
                place->number = value;
                place->whole = whole;
            } else if (key_ == Key::segmentation) {
                entry_.good_segmentation = false;
            }
        } else if (in_runs_) {
            if (depth_ == 5 && runs_key_ == RunsKey::counts) add_number(entry_.counts, value);
            if (depth_ == 5 && runs_key_ == RunsKey::size) add_number(entry_.size, value);
        } else if (key_ == Key::bbox) {
            if (in_box_ && depth_ == 4 && entry_.box.size() < 5) entry_.box.push_back(value);
        } else if (key_ == Key::segmentation) {
            if (depth_ == 5 && !entry_.sizes.empty()) {
                add_number(entry_.points, value);
                ++entry_.sizes.back();
            } else {
                entry_.good_segmentation = false;
            }
        }
    }

    void on_text(std::string& value) override {
        if (list_ == CocoList::other) return;
        check_place();
        if (depth_ == 3) {
            if (CocoValue* const place = key_value()) place->text = std::move(value);
            if (key_ == Key::segmentation) entry_.good_segmentation = false;
        } else if (depth_ == 4 && in_runs_) {
            if (runs_key_ == RunsKey::counts) entry_.counts_text = std::move(value);
        } else if (key_ == Key::segmentation) {
            entry_.good_segmentation = false;
        }
    }

    void on_key(std::string& word) override {
        if (depth_ == 1) {
            list_ = CocoList::other;
            for (std::size_t i = 0; i < list_names.size(); ++i) {
                if (word != list_names[i]) continue;
                list_ = static_cast<CocoList>(i);
                if (std::exchange(seen_[i], true))
                    throw Error(ErrorCode::data, msg("{} gives {} twice", name_, word));
            }
        } else if (depth_ == 3 && list_ != CocoList::other) {
            key_ = entry_key(word);
            if (key_ == Key::segmentation) entry_.has_segmentation = true;
        } else if (depth_ == 4 && in_runs_) {
            runs_key_ = word == "counts" ? RunsKey::counts
                        : word == "size" ? RunsKey::size
                                         : RunsKey::other;
        }
    }

    void on_object_begin() override {
        ++depth_;
        if (list_ == CocoList::other) return;
        if (depth_ == 2) refuse_list();
        if (depth_ == 3) {
            entry_.clear();
            key_ = Key::other;
        }
        if (depth_ == 4 && key_ == Key::segmentation && list_ == CocoList::annotations)
            in_runs_ = true;
        if (depth_ > 4 && key_ == Key::segmentation) entry_.good_segmentation = false;
    }
    void on_object_end() override {
        if (depth_ == 3 && list_ != CocoList::other) take_(list_, entry_);
        if (depth_ == 4) in_runs_ = false;
        --depth_;
    }
    void on_list_begin() override {
        ++depth_;
        if (depth_ == 1) refuse_root();
        if (list_ == CocoList::other) return;
        if (depth_ == 3) refuse_entry();
        if (key_ == Key::bbox && depth_ == 4) in_box_ = true;
        if (key_ == Key::segmentation && !in_runs_) {
            if (depth_ == 5 && entry_.sizes.size() < most_numbers)
                entry_.sizes.push_back(0);
            else if (depth_ >= 5)
                entry_.good_segmentation = false;
        }
    }
    void on_list_end() override {
        if (depth_ == 4) in_box_ = false;
        --depth_;
    }

    void check_lists() const {
        for (std::size_t i = 0; i < list_names.size(); ++i) {
            if (!seen_[i])
                throw Error(ErrorCode::data,
                            msg("{} is no COCO file: it has no {}", name_, list_names[i]));
        }
    }

private:
    enum class RunsKey { other, counts, size };

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

    CocoValue* key_value() {
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

    void add_number(std::vector<double>& numbers, double value) {
        if (numbers.size() < most_numbers)
            numbers.push_back(value);
        else
            entry_.good_segmentation = false;
    }

    const std::string& name_;
    const std::function<void(CocoList, CocoEntry&)>& take_;
    int depth_ = 0;
    CocoList list_ = CocoList::other;
    bool in_runs_ = false;  ///< in a segmentation that is an object
    bool in_box_ = false;   ///< in a bbox that is a list
    Key key_ = Key::other;
    RunsKey runs_key_ = RunsKey::other;
    std::array<bool, 3> seen_{};
    CocoEntry entry_;
};

}  // namespace

void CocoEntry::clear() {
    for (CocoValue* each : {&id, &image_id, &category_id, &area, &iscrowd, &file_name, &width,
                            &height, &name, &supercategory})
        *each = {};
    for (auto* each : {&box, &points, &counts, &size}) each->clear();
    sizes.clear();
    counts_text.reset();
    has_segmentation = false;
    good_segmentation = true;
}

void read_coco_entries(const std::string& name, const CocoSource& source,
                       const std::function<void(CocoList, CocoEntry&)>& take) {
    EntryHandler handler(name, take);
    scan_json(name, source, handler);
    handler.check_lists();
}

}  // namespace engine
