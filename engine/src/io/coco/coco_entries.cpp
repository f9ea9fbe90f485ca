#include "io/coco/coco_entries.h"

#include <array>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "engine/base/error.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr std::uint64_t largest_file = std::uint64_t{4} << 30;
constexpr std::size_t longest_text = std::size_t{64} << 20;
constexpr int deepest = 64;
constexpr std::size_t most_numbers = std::size_t{1} << 22;  // of a mask; more are malformed

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
    /// The parser has used up what it has read.
    void end_token() { in_token_ = 0; }

private:
    /// The parser holds a text, a number or white space until its end, so its length is checked as
    /// it is read: packed, a text of many GiB is small.
    void fill() {
        at_ = 0;
        in_token_ += size_;
        if (in_token_ > longest_text + buffer_.size())
            throw Error(ErrorCode::data, msg("{} holds a text of more than 64 MiB", name_));
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
    std::size_t in_token_ = 0;  ///< read since a token ended, up to one buffer more
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

/// Takes the parser's calls.
class EntryHandler {
public:
    EntryHandler(const std::string& name, SourceText& source,
                 const std::function<void(CocoList, CocoEntry&)>& take)
        : name_(name), source_(source), take_(take) {}

    bool null() {
        source_.end_token();
        if (list_ == CocoList::other) return true;
        check_place();
        if (depth_ > 3 && key_ == Key::segmentation) entry_.good_segmentation = false;
        return true;
    }
    /// Stands for a number in iscrowd alone.
    bool boolean(bool value) {
        if (list_ != CocoList::other && depth_ == 3 && key_ == Key::iscrowd)
            return number(value ? 1 : 0, value ? 1 : 0);
        return null();
    }
    bool number_integer(std::int64_t value) { return number(static_cast<double>(value), value); }
    bool number_unsigned(std::uint64_t value) {
        constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        if (value > most) return number(static_cast<double>(value), {});
        return number(static_cast<double>(value), static_cast<std::int64_t>(value));
    }
    bool number_float(double value, const std::string&) { return number(value, {}); }
    bool binary(json::binary_t&) { return false; }

    bool string(std::string& value) {
        source_.end_token();
        check_text(value);
        if (list_ == CocoList::other) return true;
        check_place();
        if (depth_ == 3) {
            if (CocoValue* const place = key_value()) place->text = std::move(value);
            if (key_ == Key::segmentation) entry_.good_segmentation = false;
        } else if (depth_ == 4 && in_runs_) {
            if (runs_key_ == RunsKey::counts) entry_.counts_text = std::move(value);
        } else if (key_ == Key::segmentation) {
            entry_.good_segmentation = false;
        }
        return true;
    }

    bool key(std::string& word) {
        source_.end_token();
        check_text(word);
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
        return true;
    }

    bool start_object(std::size_t) {
        descend();
        if (list_ == CocoList::other) return true;
        if (depth_ == 2) refuse_list();
        if (depth_ == 3) {
            entry_.clear();
            key_ = Key::other;
        }
        if (depth_ == 4 && key_ == Key::segmentation && list_ == CocoList::annotations)
            in_runs_ = true;
        if (depth_ > 4 && key_ == Key::segmentation) entry_.good_segmentation = false;
        return true;
    }
    bool end_object() {
        source_.end_token();
        if (depth_ == 3 && list_ != CocoList::other) take_(list_, entry_);
        if (depth_ == 4) in_runs_ = false;
        --depth_;
        return true;
    }
    bool start_array(std::size_t) {
        descend();
        if (depth_ == 1) refuse_root();
        if (list_ == CocoList::other) return true;
        if (depth_ == 3) refuse_entry();
        if (key_ == Key::bbox && depth_ == 4) in_box_ = true;
        if (key_ == Key::segmentation && !in_runs_) {
            if (depth_ == 5 && entry_.sizes.size() < most_numbers)
                entry_.sizes.push_back(0);
            else if (depth_ >= 5)
                entry_.good_segmentation = false;
        }
        return true;
    }
    bool end_array() {
        source_.end_token();
        if (depth_ == 4) in_box_ = false;
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

    void check_lists() const {
        for (std::size_t i = 0; i < list_names.size(); ++i) {
            if (!seen_[i])
                throw Error(ErrorCode::data,
                            msg("{} is no COCO file: it has no {}", name_, list_names[i]));
        }
    }

private:
    enum class RunsKey { other, counts, size };

    void check_text(const std::string& text) const {
        if (text.size() > longest_text)
            throw Error(ErrorCode::data, msg("{} holds a text of more than 64 MiB", name_));
    }
    void descend() {
        source_.end_token();
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

    bool number(double value, std::optional<std::int64_t> whole) {
        source_.end_token();
        if (list_ == CocoList::other) return true;
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
        return true;
    }

    void add_number(std::vector<double>& numbers, double value) {
        if (numbers.size() < most_numbers)
            numbers.push_back(value);
        else
            entry_.good_segmentation = false;
    }

    const std::string& name_;
    SourceText& source_;
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
    SourceText text(name, source);
    EntryHandler handler(name, text, take);
    json::sax_parse(SourceIterator{&text}, SourceIterator{}, &handler);
    handler.check_lists();
}

}  // namespace engine
